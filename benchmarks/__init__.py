"""Speed, measured beside the other libraries; never part of the test suite."""
