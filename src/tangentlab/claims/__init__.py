"""What claims say, what measures them at each scale, and the verdicts."""

from .catalog import CATALOG as CATALOG
from .entries import Entry as Entry
from .numbers import write_numbers as write_numbers
from .records import Performed as Performed
from .records import Standing as Standing
from .records import Verification as Verification
from .records import Verified as Verified
from .running import compute as compute
from .scales import SCALES as SCALES
from .scales import Run as Run
from .scales import Runs as Runs
from .scales import Scale as Scale
from .tables import to_table as to_table
from .verifying import verify as verify
