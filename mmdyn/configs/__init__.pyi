from .find import find_config as find_config
