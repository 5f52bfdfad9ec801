import subprocess, sys
from pathlib import Path
from tests.client.record import record
def test_st(tmp_path, migrated_template):
    with record(tmp_path/'record', migrated_template, ) as r:
        done=subprocess.run([str(Path(sys.executable).with_name('schemathesis')),'run',f'{r.url}/api/v1/schema/?format=json','-H',f'Authorization: Bearer {r.key}','--checks','all','--exclude-checks','positive_data_acceptance','--max-examples','1','--phases','coverage','--generation-deterministic','--request-timeout','20','--no-color'],stdout=open('/tmp/wk/docs-scratch/st.log','w'),stderr=subprocess.STDOUT)
        print(done.returncode)
