import os

import config
from dataset import dataset


def get_ref_src_path(op):
    return os.path.join(config.ref_impl_base_path, dataset[op]["category"], f"{op}.py")


def get_prompt(op):
    path = os.path.join(config.project_root_path, "reference", dataset[op]["category"], f"{op}.py")
    with open(path) as handle:
        return f"Rewrite this:\n{handle.read()}"
