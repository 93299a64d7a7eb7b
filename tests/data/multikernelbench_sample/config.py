import os

project_root_path = os.getcwd()
ref_impl_base_path = f"{project_root_path}/reference"
num_correct_trials = 5
