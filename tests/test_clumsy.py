"""What a first-time user may hand over works, or is answered by a sentence: the list is in benchmarks/clumsy.py."""

import importlib.util
from pathlib import Path

import pytest

from hcpinn.errors import HcpinnError

LIST = Path(__file__).parents[1] / "benchmarks" / "clumsy.py"


def cases():
    if not LIST.exists():
        return []
    spec = importlib.util.spec_from_file_location("clumsy", LIST)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "clumsy", module)
        spec.loader.exec_module(module)
    return module.CASES


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_it_works_or_a_sentence_says_why_not(case):
    if case.says is None:
        case.call()
        return
    with pytest.raises(HcpinnError) as caught:
        case.call()
    assert [word for word in case.says if word not in str(caught.value)] == []
