"""Combines the configurations of a task: every init with every input with every shared one."""

import itertools
import json
import os


class ConfigTask:
    def __init__(self, task_dir, multi_input_settings=False, multi_init_settings=False,
                 forward=True, config_fname=None):
        name = config_fname or "config_forward.json"
        with open(os.path.join(task_dir, name)) as handle:
            self.configs = json.load(handle)

    def get_configs(self):
        init = self.configs["single_init_configs"]
        inputs = self.configs["single_input_configs"]
        shared = self.configs["single_shared_configs"]
        rows = list(itertools.product(init, inputs, shared))
        return ([{**i, **s} for i, _, s in rows], [{**x, **s} for _, x, s in rows],
                [str(row) for row in rows])
