"""A package with the interface of VLMEvalKit and its habits."""

import logging
import os
import random
import ssl

print("noise on import")
os.write(1, b"noise below print\n")
ssl._create_default_https_context = ssl._create_unverified_context
os.environ["HOME"] = os.environ["VLMEVAL_WAS_HERE"] = "/nowhere"
os.chdir("/")
random.seed(1)
logging.basicConfig(level=10, force=True)
__version__ = "0.fake"
