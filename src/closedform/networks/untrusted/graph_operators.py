"""Which operators an exported network may call: torch's own on tensors, and arithmetic on sizes."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.archive import TRUSTED
from closedform.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

ARITHMETIC = frozenset(
    {
        "_operator.add", "_operator.sub", "_operator.mul", "_operator.truediv",
        "_operator.floordiv", "_operator.mod", "_operator.pow", "_operator.neg",
        "_operator.pos", "_operator.eq", "_operator.ne", "_operator.lt", "_operator.le",
        "_operator.gt", "_operator.ge", "_operator.and_", "_operator.or_", "_operator.lshift",
        "_operator.rshift", "_operator.getitem", "math.ceil", "math.floor", "math.trunc",
        "torch.sym_float", "torch.sym_int", "torch.sym_ite", "torch.sym_max", "torch.sym_min",
        "torch.sym_not", "torch._sym_sqrt", "torch.sym_sum",
    }
)  # fmt: skip
"""What torch.export does with sizes that are not known in advance."""

HIGHER_ORDER = frozenset(
    {
        "torch.ops.higher_order.cond", "torch.ops.higher_order.while_loop",
        "torch.ops.higher_order.map", "torch.ops.higher_order.map_impl",
        "torch.ops.higher_order.scan", "torch.ops.higher_order.associative_scan",
        "torch.ops.higher_order.wrap_with_set_grad_enabled",
        "torch.ops.higher_order.wrap_with_autocast",
    }
)  # fmt: skip
"""Control flow. Its branches are graphs in the same file, checked in the same way."""

REFUSED = frozenset(("from_file", "_print"))
"""Operators that reach outside: files, and the terminal."""

_OVERLOAD = re.compile(r"torch\.ops\.(aten|prims)\.([A-Za-z_]\w*)\.([A-Za-z_]\w*)", re.ASCII)


def clean_operator(target: object) -> str:
    """The operator, if a network may call it.

    Raises
    ------
    ModelFileError
        If it is anything but an operator of torch on tensors, arithmetic, or control flow.
    """
    if isinstance(target, str) and (target in ARITHMETIC | HIGHER_ORDER or _is_overload(target)):
        return target
    raise ModelFileError(
        f"The network calls {target!r:.200}, which is not one of torch's own operators on tensors. "
        f"Export a network of torch's operators. {TRUSTED}"
    )


def _is_overload(target: str) -> bool:
    found = _OVERLOAD.fullmatch(target)
    if found is None:
        return False
    namespace, name, overload = found.groups()
    known = f"{namespace}::{name}" if overload == "default" else f"{namespace}::{name}.{overload}"
    # Outside the dispatcher there are TorchScript's own, such as aten::save.
    # Sparse tensors made without a check may point anywhere in memory.
    is_unchecked = name.startswith("_sparse_") and name.endswith("_unsafe")
    return known in _dispatched() and name not in REFUSED and not is_unchecked


@cache
def _dispatched() -> frozenset[str]:
    private: Any = torch._C  # torch has no public list of what its dispatcher knows
    return frozenset(private._dispatch_get_all_op_names())
