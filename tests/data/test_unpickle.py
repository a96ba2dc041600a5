import codecs
import os
import pickle
import pickletools
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tangentlab.data.unpickle import unpickle_bytes
from tests.data import official

PLANES = np.arange(3 * 3072, dtype=np.uint32).astype(np.uint8).reshape(3, 3072)


def test_batch_of_python_2_and_old_numpy():
    batch = unpickle_bytes(official.python_2_batch([3, 0, 9], PLANES))
    assert batch[b"labels"] == [3, 0, 9]
    assert batch[b"batch_label"] == b"training batch 1 of 5"
    np.testing.assert_array_equal(batch[b"data"], PLANES)


def test_made_up_batch_is_what_pickle_itself_reads():
    data = official.python_2_batch([3, 0, 9], PLANES)
    assert {op.name for op, _, _ in pickletools.genops(data)} >= {"BINSTRING", "GLOBAL"}
    assert max(op.proto for op, _, _ in pickletools.genops(data)) == 2
    with warnings.catch_warnings():
        # The very warnings of new numpy about old pickles that the reader avoids.
        warnings.simplefilter("ignore")
        batch = pickle.loads(data, encoding="bytes")
    np.testing.assert_array_equal(batch[b"data"], PLANES)
    assert batch[b"data"].dtype == np.uint8


@pytest.mark.parametrize("protocol", range(5))
@pytest.mark.parametrize("order", ["C", "F"])
def test_batch_of_this_python_in_every_protocol(protocol, order):
    data = {"data": np.asarray(PLANES, order=order), "labels": [1, 2]}
    batch = unpickle_bytes(pickle.dumps(data, protocol=protocol))
    assert batch[b"labels"] == [1, 2]
    np.testing.assert_array_equal(batch[b"data"], PLANES)


class _Malicious:
    """What an attacker would pickle: unpickling it runs a command."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(5))
def test_malicious_pickle_is_refused_and_runs_nothing(tmp_path, protocol):
    witness = tmp_path / "witness"
    attacks = [
        (os.system, f"{sys.executable} -c \"open(r'{witness}', 'w')\""),
        (eval, f"open(r'{witness}', 'w').close()"),
        (Path.touch, witness),
    ]
    for attack in attacks:
        pickled = pickle.dumps(_Malicious(*attack), protocol=protocol)
        with pytest.raises(pickle.UnpicklingError, match="refused to import"):
            unpickle_bytes(pickled)
        assert not witness.exists()
        pickle.loads(pickled)  # the attack is real
        assert witness.exists()
        witness.unlink()


def test_attack_hidden_inside_a_batch_is_refused(tmp_path):
    attack = _Malicious(Path.touch, tmp_path / "witness")
    pickled = pickle.dumps({"data": PLANES, "labels": [attack]})
    with pytest.raises(pickle.UnpicklingError, match="refused to import"):
        unpickle_bytes(pickled)
    assert not (tmp_path / "witness").exists()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"data": np.zeros(3)}, "refused an array of dtype 'f8'"),
        ({"data": np.array([print])}, "refused"),
        ([1, 2], "a pickled dict was expected, got list"),
        ({"data": _Malicious(codecs.encode, "a", "rot13")}, "rot13"),
    ],
)
def test_other_contents_are_refused(value, message):
    with pytest.raises(pickle.UnpicklingError, match=message):
        unpickle_bytes(pickle.dumps(value))


def test_array_with_too_few_bytes_is_refused():
    pickled = official.python_2_batch([1], PLANES)
    shorter = pickled.replace(
        (3).to_bytes(4, "little") + b"J" + (3072).to_bytes(4, "little"),
        (4).to_bytes(4, "little") + b"J" + (3072).to_bytes(4, "little"),
    )
    assert shorter != pickled
    with pytest.raises(pickle.UnpicklingError, match="cannot have 9216 bytes"):
        unpickle_bytes(shorter)


def test_every_truncation_is_an_unpickling_error():
    pickled = official.python_2_batch([3, 0, 9], PLANES[:1])
    for length in [*range(0, 250), *range(250, len(pickled), 97)]:
        with pytest.raises(pickle.UnpicklingError):
            unpickle_bytes(pickled[:length])
