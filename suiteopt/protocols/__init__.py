"""What each benchmark's own check does, as data: one TOML file a protocol."""

from suiteopt.protocols.detect import protocol_detects, protocol_inputs, protocol_table
from suiteopt.protocols.loader import (
    known_protocols,
    load_oracle,
    load_protocol,
    protocol_oracles,
)
from suiteopt.protocols.protocol import InputRule, Protocol

__all__ = [
    "InputRule",
    "Protocol",
    "known_protocols",
    "load_oracle",
    "load_protocol",
    "protocol_detects",
    "protocol_inputs",
    "protocol_oracles",
    "protocol_table",
]
