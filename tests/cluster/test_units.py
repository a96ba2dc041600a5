"""Who gets which unit."""

from tangentlab.cluster.units import Queue, Unit


def _units(*lengths):
    made = [(strip, i) for strip, length in enumerate(lengths) for i in range(length)]
    return [Unit(number, strip, ((i,),)) for number, (strip, i) in enumerate(made)]


def _taken(queue, worker, count):
    units = [queue.take(worker) for _ in range(count)]
    return [None if unit is None else (unit.strip, unit.items[0][0]) for unit in units]


def test_a_worker_stays_with_its_strip_and_begins_with_the_longest():
    queue = Queue(_units(2, 3))
    assert _taken(queue, "a", 5) == [(1, 0), (1, 1), (1, 2), (0, 0), (0, 1)]
    assert queue.take("a") is None and len(queue) == 0


def test_a_second_worker_begins_another_strip():
    queue = Queue(_units(2, 3))
    assert _taken(queue, "a", 1) == [(1, 0)]
    assert _taken(queue, "b", 2) == [(0, 0), (0, 1)]


def test_a_worker_without_a_strip_helps_from_the_far_end():
    queue = Queue(_units(4))
    assert _taken(queue, "a", 1) == [(0, 0)]
    assert _taken(queue, "b", 2) == [(0, 3), (0, 2)]
    assert _taken(queue, "a", 2) == [(0, 1), None]


def test_a_lost_unit_comes_next():
    queue = Queue(_units(3))
    unit = queue.take("a")
    assert unit is not None
    queue.forget("a")
    queue.give_back(unit)
    assert queue.take("b") == unit and len(queue) == 2
