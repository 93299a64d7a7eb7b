"""Reports of every tool, in the forms that several versions of compute-sanitizer print."""

import pytest

from gpu_eval.devices.sanitizer_reports import read_transcript

RACE = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at hgm00003::reduce(const float *, float *, \
int)+0xf0 in reduce.cu:40
=========     and Read access at hgm00003::reduce(const float *, float *, int)+0x280 in \
reduce.cu:46 [1016 hazards]
=========
========= Warning: Race reported between Write access at hgm00005::scan(float *)+0x50
=========     and Write access at hgm00005::scan(float *)+0x50 [4 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""
HAZARD = """\
========= COMPUTE-SANITIZER
========= ERROR: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :
=========     Write Thread (0,0,0) at hgm00001::k(float *)+0x2f0 in k.cu:20
=========     Write Thread (1,0,0) at hgm00001::k(float *)+0x2f0 in k.cu:20
=========     Current Value : 1, Incoming Value : 2
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
OVERRUN = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at hgm00012::gelu(const float *, float *, long)+0x160 in gelu.cu:17
=========     by thread (127,0,0) in block (3,0,0)
=========     Access to 0x7f2b1fa00400 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f2b1fa00000 of size 1,024 bytes
=========
========= Invalid __shared__ read of size 16 bytes
=========     at hgm00012::gelu(const float *, float *, long)+0x200 in gelu.cu:19
=========     by thread (1,0,0) in block (0,0,0)
=========     Address 0x1001 is misaligned
=========
========= ERROR SUMMARY: 2 errors
"""
UNINITIALISED = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at hgm00007::add(int *)+0x70 in add.cu:41
=========     by thread (31,0,0) in block (1,0,0)
=========     Access to 0x7f3c7ec000fc
=========
========= ERROR SUMMARY: 257 errors
========= ERROR SUMMARY: 256 errors were not printed. Use --print-limit option to adjust the \
number of printed errors
"""
BARRIER = """\
========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block.
=========     at __syncwarp(unsigned int)+0x30 in sm_30_intrinsics.hpp:110
=========     by thread (32,0,0) in block (0,0,0)
=========         Device Frame: hgm00021::scan(float *)+0xe40 in scan.cu:60
=========
========= Target application returned an error
========= ERROR SUMMARY: 1 error
"""
OLDER = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at 0x1b8 in gelu.cu:17:hgm00002::gelu(const float *, float *)
=========     by thread (31,0,0) in block (0,0,0)
=========     Address 0x7f7a4e000000 is out of bounds
=========
========= ERROR SUMMARY: 1 error
"""
MANGLED = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at _ZN8hgm000417row_sumEPKfPf+0x40
=========     by thread (0,0,0) in block (0,0,0)
========= ERROR SUMMARY: 1 error
"""
FLAT = OVERRUN.replace("=========     ", "========= ")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (RACE, [3, 5]),
        (HAZARD, [1]),
        (OVERRUN, [12, 12]),
        (FLAT, [12, 12]),
        (UNINITIALISED, [7]),
        (BARRIER, [21]),
        (OLDER, [2]),
        (MANGLED, [41]),
    ],
)
def test_who_is_accused(text: str, numbers: list[int]) -> None:
    transcript = read_transcript(text)
    assert [report.number for report in transcript.reports] == numbers
    assert transcript.complete
    assert transcript.cut is (text is UNINITIALISED)


def test_a_line_says_what_and_where_without_our_own_names() -> None:
    (race, warning) = read_transcript(RACE).reports
    assert race.line == (
        "Error: Race reported between Write access at reduce(const float *, float *, int)+0xf0 in "
        "reduce.cu:40 and Read access at reduce(const float *, float *, int)+0x280 in "
        "reduce.cu:46 [1016 hazards]"
    )
    assert warning.line.startswith("Warning: Race reported between")
    assert read_transcript(OVERRUN).reports[0].line == (
        "Invalid __global__ write of size 4 bytes "
        "at gelu(const float *, float *, long)+0x160 in gelu.cu:17"
    )
    assert len(read_transcript(OVERRUN).reports[0].details) == 4


def test_clean_runs() -> None:
    for summary in (
        "ERROR SUMMARY: 0 errors",
        "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
    ):
        transcript = read_transcript(f"========= COMPUTE-SANITIZER\nhello\n========= {summary}\n")
        assert (transcript.reports, transcript.complete, transcript.cut) == ((), True, False)
        assert (transcript.remarks, transcript.said) == ((), ("hello",))


def test_what_the_program_prints_between_is_no_report() -> None:
    lines = OVERRUN.splitlines()
    mixed = "\n".join([*lines[:3], "Traceback: Invalid __global__ hgm00001", *lines[3:]])
    transcript = read_transcript(mixed)
    assert transcript.reports == read_transcript(OVERRUN).reports
    assert transcript.said == ("Traceback: Invalid __global__ hgm00001",)


def test_a_tool_that_did_not_run_or_broke_is_not_complete() -> None:
    early = (
        "========= COMPUTE-SANITIZER\n"
        "========= Error: Target application terminated before first instrumented API call\n"
        "========= Error: couldn't find exit code.\n"
    )
    transcript = read_transcript(early)
    assert (transcript.reports, transcript.complete) == ((), False)
    assert transcript.remarks[0].startswith("Error: Target application terminated")
    broken = (
        "========= COMPUTE-SANITIZER\n"
        "========= Error: Internal Sanitizer Error: hgm00002 cannot be patched\n"
        "========= ERROR SUMMARY: 1 error\n"
    )
    transcript = read_transcript(broken)
    assert (transcript.reports, transcript.complete) == ((), False)
    assert not read_transcript("").complete


def test_an_unknown_headline_accuses_whom_it_names() -> None:
    text = (
        "========= COMPUTE-SANITIZER\n"
        "========= Warp Illegal Instruction\n"
        "=========     at hgm00009::k(float *)+0x10\n"
        "========= ERROR SUMMARY: 1 error\n"
    )
    (report,) = read_transcript(text).reports
    assert (report.headline, report.number) == ("Warp Illegal Instruction", 9)
