"""What tests of studies share."""

import pytest


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """What other processes are told, so that they find the references of this one."""
    return {"HCPINN_CACHE": str(tmp_path_factory.getbasetemp() / "cache")}
