from .server import (
    FAULTS as FAULTS,
    VERDICT_CODE as VERDICT_CODE,
    FakeServer as FakeServer,
    fake_verdict as fake_verdict,
    verdict_code as verdict_code,
    write_script as write_script,
)
