"""The text of kernels on its way to an assembler that may be older than the compiler."""

from hcpinn.jets.fused.nvrtc import portable

PTX = """//
.version 9.0
.target sm_90
.visible .entry hcpinn_forward()
{
\t.pragma "used_bytes_mask 0xfff";
\tld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
\tret;
}"""


def test_an_older_assembler_finds_nothing_that_is_new_to_it():
    lines = portable(PTX).splitlines()
    assert ".version 8.0" in lines
    assert not any("used_bytes_mask" in line for line in lines)


def test_instructions_stay_as_they_are():
    kept = [line for line in PTX.splitlines() if "pragma" not in line and ".version" not in line]
    assert [line for line in portable(PTX).splitlines() if ".version" not in line] == kept
