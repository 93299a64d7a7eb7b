"""What each benchmark's own check does, as data: one TOML file a protocol."""

from suiteopt.protocols.detect import (
    Judged,
    absent_inputs,
    judged_problems,
    lacking_any,
    protocol_detects,
    protocol_inputs,
    protocol_table,
)
from suiteopt.protocols.loader import (
    known_protocols,
    load_oracle,
    load_protocol,
    protocol_oracles,
)
from suiteopt.protocols.protocol import InputRule, Protocol, judges_alike

__all__ = [
    "InputRule",
    "Judged",
    "Protocol",
    "absent_inputs",
    "judged_problems",
    "judges_alike",
    "known_protocols",
    "lacking_any",
    "load_oracle",
    "load_protocol",
    "protocol_detects",
    "protocol_inputs",
    "protocol_oracles",
    "protocol_table",
]
