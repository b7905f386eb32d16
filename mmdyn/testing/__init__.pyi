from .fake_verdicts import VERDICT_CODE as VERDICT_CODE, fake_verdict as fake_verdict, verdict_code as verdict_code
from .faults import FAULTS as FAULTS
from .script import write_script as write_script
from .server import FakeServer as FakeServer
