"""Runs a recipe where accelerate offers FSDP on CPUs too: `accelerate launch ... cpu_fsdp.py dpo --config ...`.

accelerate turns FSDP on for several accelerators only, though torch shards on CPUs with gloo all the same. The
one thing changed here is the name that accelerate gives to several CPU processes.
"""

from __future__ import annotations

import sys
from typing import Any

from accelerate.state import PartialState
from accelerate.utils import DistributedType

original = PartialState.__init__


def called_gpus(self: Any, *args: Any, **kwargs: Any) -> None:
    original(self, *args, **kwargs)
    if self.distributed_type == DistributedType.MULTI_CPU:
        self.distributed_type = DistributedType.MULTI_GPU


if __name__ == "__main__":
    from hf_kokoro.training.__main__ import main

    PartialState.__init__ = called_gpus  # type: ignore[method-assign]
    sys.exit(main())
