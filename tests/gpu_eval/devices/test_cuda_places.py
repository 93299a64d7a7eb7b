"""Where arenas lie in the ground: the arithmetic, for any memory, lanes and sizes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.devices import cuda_places
from gpu_eval.devices.cuda_places import (
    CHUNK,
    GAPS_BYTES,
    LEAST_BYTES,
    MIDDLE_SAMPLE,
    MOST_BYTES,
    MOST_WATCHED,
    NEAR_BYTES,
    REACH_BYTES,
    RESERVED_BYTES,
    SAMPLE,
    SHARES,
    Stretch,
)
from tests.gpu_eval.devices.ground_cases import pattern

GIB = 1 << 30
CHUNKS = st.integers(2, 9000)
LANES = st.integers(1, 8)
EACH = st.integers(1, 3000)


@given(CHUNKS, LANES, EACH)
def test_places_do_not_overlap_and_have_ground_on_both_sides(
    chunks: int, lanes: int, each: int
) -> None:
    places = cuda_places.divide(chunks, lanes, each)
    if not places:
        assert chunks - lanes * each < 2
        return
    assert len(places) == lanes
    assert {p.count for p in places} == {each}
    assert places[0].first >= 1
    assert places[-1].end < chunks
    gaps = {b.first - a.end for a, b in pairwise(places)}
    assert len(gaps) <= 1
    gap = min(gaps, default=0)
    assert 0 <= gap * (lanes - 1) <= cuda_places.chunks_of(GAPS_BYTES)


@given(CHUNKS, LANES, EACH)
def test_most_ground_lies_behind_up_to_what_an_index_reaches(
    chunks: int, lanes: int, each: int
) -> None:
    places = cuda_places.divide(chunks, lanes, each)
    if not places:
        return
    front, behind = places[0].first, chunks - places[-1].end
    reach = cuda_places.chunks_of(REACH_BYTES)
    assert behind <= reach
    # It is the reach, or four times the front (but for what does not divide).
    assert behind == reach or abs(behind - 4 * front) <= 4
    assert behind < reach or front >= behind // 4


@given(CHUNKS, LANES, EACH, st.integers(1, 8000))
def test_more_memory_never_makes_anything_smaller(
    chunks: int, lanes: int, each: int, more: int
) -> None:
    small = cuda_places.divide(chunks, lanes, each)
    large = cuda_places.divide(chunks + more, lanes, each)
    assert len(large) >= len(small)
    if not small:
        return
    before, behind = small[0].first, chunks - small[-1].end
    before_now, behind_now = large[0].first, chunks + more - large[-1].end
    steps, steps_now = ({b.first - a.first for a, b in pairwise(p)} for p in (small, large))
    if steps_now != steps:
        # Gaps are equal: one chunk more may be too few to widen all of them, and the rest comes
        # from before and behind.
        assert min(steps_now) > min(steps)
        assert before_now + behind_now >= before + behind - (lanes - 2)
        assert min(before_now - before, behind_now - behind) >= -(lanes - 2)
    else:
        assert before_now >= before
        assert behind_now >= behind


@pytest.mark.parametrize(("chunks", "more"), [(6328, 2), (6325, 5)])
def test_a_wider_gap_takes_from_front_and_back(chunks: int, more: int) -> None:
    small, large = (cuda_places.divide(n, 7, 678) for n in (chunks, chunks + more))
    assert large[1].first - large[0].end == small[1].first - small[0].end + 1
    assert 0 <= small[0].first - large[0].first <= 1


@given(st.integers(0, 1 << 38))
def test_all_workers_grounds_leave_a_gpu_what_is_reserved(memory: int) -> None:
    part = cuda_places.share(memory)
    assert part == 0 or LEAST_BYTES <= part <= MOST_BYTES
    assert part == 0 or SHARES * part <= memory - RESERVED_BYTES


@pytest.mark.parametrize(
    ("memory", "least", "most"),
    [(16, 0, 0), (24, 0, 0), (40, 1, 2), (80, 5, 6), (139, 11, 12), (192, 16, 16)],
)
def test_shares_of_known_gpus(memory: int, least: int, most: int) -> None:
    assert least * GIB <= cuda_places.share(memory * GIB) <= most * GIB


def test_a_worker_on_an_h200_has_a_whole_index_behind_its_small_arenas() -> None:
    chunks = cuda_places.share(139 * GIB) // CHUNK
    places = cuda_places.divide(chunks, 8, cuda_places.chunks_of(36 << 20))
    assert (chunks - places[-1].end) * CHUNK >= REACH_BYTES
    assert places[0].first * CHUNK > 2 * GIB
    assert (places[1].first - places[0].end) * CHUNK > 128 << 20


@given(
    CHUNKS,
    LANES,
    EACH,
    st.integers(0, 8),
    st.sets(st.integers(0, 1), max_size=4),
)
def test_each_chunk_is_an_arenas_or_looked_at(
    chunks: int, lanes: int, each: int, running: int, watched: set[int]
) -> None:
    places = cuda_places.divide(chunks, lanes, each)[:running]
    found = cuda_places.closeness(chunks, places, watched)
    assert set(found.tolist()) <= {0, 1, MIDDLE_SAMPLE, SAMPLE}
    taken = np.zeros(chunks, bool)
    for place in places:
        taken[place.first : place.end] = True
    assert np.array_equal(found == 0, taken)
    assert all(found[w] <= 1 for w in watched)
    if places:
        # Never more closely farther away, but for what is watched.
        front, behind = (
            found[max(watched, default=-1) + 1 : places[0].first],
            found[places[0].end :],
        )
        assert (np.diff(front.astype(np.int64)) <= 0).all()
        assert (np.diff(behind[behind > 0].astype(np.int64)) >= 0).all()
        assert set(front[-1:].tolist()) <= {1}


DAMAGE = st.lists(st.integers(0, 3), min_size=1, max_size=400).filter(any)


@given(DAMAGE, st.booleans())
def test_what_is_mended_holds_all_that_is_known_to_be_damaged(
    counts: list[int], exact: bool
) -> None:
    damaged = np.array(counts, np.uint32)
    stretch = cuda_places.hull(damaged, exact)
    assert 0 <= stretch.first < stretch.end <= len(damaged)
    outside = np.ones(len(damaged), bool)
    outside[stretch.first : stretch.end] = False
    assert not damaged[outside].any()
    if exact:
        assert damaged[stretch.first]
        assert damaged[stretch.end - 1]


def test_where_a_sample_was_looked_at_more_is_mended_than_was_seen() -> None:
    near = cuda_places.chunks_of(NEAR_BYTES)
    damaged = np.zeros(5000, np.uint32)
    damaged[2000] = 1
    assert cuda_places.hull(damaged, exact=False) == Stretch(2000 - near, 2 * near + 1)
    damaged[2999] = 1
    assert cuda_places.hull(damaged, exact=False) == Stretch(1750, 1500)
    assert cuda_places.hull(damaged, exact=True) == Stretch(2000, 1000)
    damaged[[0, 4999]] = 1
    assert cuda_places.hull(damaged, exact=False) == Stretch(0, 5000)


@given(DAMAGE)
def test_stretches_are_the_chunks_they_were_made_of(counts: list[int]) -> None:
    chunks = np.flatnonzero(counts)
    stretches = cuda_places.runs_of(chunks)
    assert [c for s in stretches for c in range(s.first, s.end)] == chunks.tolist()
    assert all(a.end < b.first for a, b in pairwise(stretches))
    assert cuda_places.runs_of(chunks[:0]) == []


@given(st.sets(st.integers(0, 999), min_size=1))
def test_what_is_watched_was_damaged_and_is_spread(chunks: set[int]) -> None:
    damaged = np.zeros(1000, np.uint32)
    damaged[list(chunks)] = 1
    watched = cuda_places.watched_of(damaged)
    assert len(watched) == min(len(chunks), MOST_WATCHED)
    assert watched <= chunks
    assert min(watched) == min(chunks)


def test_a_chunk_is_aligned_and_no_two_of_its_words_are_alike() -> None:
    assert CHUNK % 512 == 0
    words = pattern(CHUNK // 4)
    assert len(np.unique(words)) == len(words)
    numbers = words.view(np.float32)
    assert numbers.min() >= 1
    assert numbers.max() < 2


def test_a_stretch_ends_behind_its_last_chunk() -> None:
    assert Stretch(3, 4).end == 7
