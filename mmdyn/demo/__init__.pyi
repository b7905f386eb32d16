from .make import learn_by_heart as learn_by_heart, make_demo as make_demo
