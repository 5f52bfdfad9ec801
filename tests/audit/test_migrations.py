"""A landed migration is never edited: records in the field have run it as it was. Another migration mends it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

import audit

MIGRATIONS = Path(audit.__file__).parent / "migrations"

LANDED = {
    "0001_initial.py": "f5927421379af920f3afbc71b01498b198656d8380b42609a78fe62365ec4a11",
    "0002_log.py": "e482af628ddce4e00502b1477375bd9b9fa3bdee501dfbdb3f2be9bdf00e2574",
    "0003_keys_and_quarantine.py": "2e280518faa3fb435c210746444ba7acb1b3d40d0f919f3511004823cec09738",
    "0004_tree.py": "7d18a08a6666902ec8e923d36770c4f8fc8e981ffc5fd1666e9e4a4a79754752",
    "0005_runs.py": "c2f1ddbcaca3986fd266ab63151d95b5bae4478b43dd3c62fe2fd6106b7e1534",
    "0006_append_named.py": "0f1ac4c5a2d30c0543404534014747730602ffde01ffc69a7fd011d19b89bfec",
    "0007_quarantine_retention.py": "610a9fcefc108af38629ca449d9d394ea2f0d00457547fb99f8cc2e60a394813",
    "0008_cases.py": "107c91021025884edc9e7f0fb2308f94a634e2c23fcd43e07c02966af8d1bf7c",
    "0009_night.py": "b71e22b28e0d3661960f497bd268df90ab343f052d45714889fc3129708c34fa",
    "0010_saved_views.py": "7ab4f78bcced4b8121fa495a18780d3c33fa062654b8ef5586a085f17dac050d",
    "0011_case_urgency.py": "239867c9e07f9e386636f86abf5e9f1d0cad2da7ed410c35644ba96f0f06cc79",
    "0012_works.py": "e833d5c64c727c7622e3fae3329264d9f7c03a5c85abd6fa30024ac3eaf6181f",
    "0013_standard_names.py": "10597cbba07ffe6afb2ff68dc9a02799548b2cfb4415e1a38460b730d1fd9040",
    "0014_close_maintenance.py": "cfb8b6b509b34885308daddebf1187f33454e0aeec6f64733e83b0a53e4cd542",
    "0015_policy.py": "e881ecac584be2a9fa6ab5a7b6773d3e852dc70ace8cac2c22f1119d10e28367",
    "0016_what_stands.py": "42ce75fff2c3f6d2e0157b44273402e2578d6a5c1e01532ea0f03223fe55ea09",
    "0017_backfill_scope.py": "3193b16133abf4cd514b560d57566b7a27e36a9d16df0d969e43395e68d90389",
    "0018_walls.py": "a3ec20885d0bdf0a92a24f5a38b182562dc96a7027ffebb6233966a0128854d2",
    "0019_persons.py": "946844701a3c688e11b7fb678a8fbe90c4207a735ec3bdebb001f96a4132b354",
    "0020_accounts.py": "87f70aa099d1fb1226279d85d162b5737bdedadd29b785ebc8455b3f78948e53",
    "0021_operation.py": "12ddb168400af211ffed340f0ce2a0d60d3b54da63b262810449befcf969a13d",
    "0022_account_functions.py": "a56f927145f37e9bdf35d382f057f8ca7f62f5bf43f6c85975ff491a27ebeb7e",
    "0023_incidents.py": "756d51b807e9937cb3d124ce193372d9ca69208af7f96c4a7516c5777fc79735",
    "0024_register.py": "46705f2c08501e91a7acd88a65e3268f6600a4e928fc3e22b16e47783993812b",
    "0025_corrections.py": "e456b918eb1c83a9de41e106df6e68b936bc892cdf523f54bfd4c163bd81e710",
    "0026_information.py": "4e61bdc67ef9129330295697018f881196ec1ce18350ad2bf8324a601e9404ab",
    "0028_priority_and_promotion.py": "9f7f45d0895e0a7447e4b79b0e6e28810148f86c460d3278ce92ffe69bf2d756",
    "0029_stream_money.py": "12a2258c5b55233aefccb6b8208ca3648acbc1c260efd11646170969476c5cba",
    "0030_evidence_ledger.py": "8b6007a7fe0462deae1d8afbcec2b03d1bdbca188669c1851daddfe8123326a1",
    "0031_slips.py": "e8e697608333a3fc96e1ff20a40d5b63509cf4b7b3964f213b97b3d10c4e50b6",
    "0032_levels_of_years.py": "8198b72403c81ab1d141c5e73e5e1a8b4bbcfb47cbcac0097e16c0308fb80de0",
    "0033_shifts.py": "a3176b91551faaf16edf1eb18e82fb60416f4cc04015b1b9219db38f37c8c906",
    "0034_video_requests.py": "d2d426aaf399f4c5f30ffd69710360871074896f92893d7a1907ea1ce930f55b",
    "0035_complaints.py": "a41e3f284eb5f5964f612e1da77e74aa9ce3c80b33309f4839d5c87782e2107d",
    "0036_table_names.py": "7b8e6a322754f6d30547872b4d6412ecb313de9eb45e2f1f58583ff852ec7085",
    "0037_mail_failures.py": "acf5ef57232268e92b04797c2e2310ae2f35311ca1f8cc3badecca3f30f46bfe",
    "0038_witnesses.py": "657ccb143193d9f8c5a255c749d864dc9f57ca81fc09d57bdaa799b639126b7c",
    "0039_recovery.py": "f022fbc59805f581d7252a98cbe1179f0de599051ed420b60998a9792216d260",
    "0040_received_at.py": "ed687c2ac0010e855daee7b0576150076ce2c7f49a5e40884e0261f214cfc343",
    "0041_archive.py": "c4a0058920d0add226d39ac764438846dd29d1f7730d406f57d4d7bdcaf12cd6",
    "0042_erasure_and_signatures.py": "80d82d9f13724de1922218e911044f0486ecef0830383a6237fc429b93c3a046",
    "0043_references.py": "8836960712b2c24c807e574a2141fa390ab5675cb77cc42233dcac7c5ef1d5c7",
    "0044_feed_and_webhooks.py": "0fc967f2d4fa73809102d165d4511e01e7279fb46cd2f573fe6c6cadf4307af7",
    "0045_sandbox.py": "1088cc6f15579aed09de74ce85743fd49d1d20ace5d17330002ad13d22a80788",
    "0046_heads_of_cases.py": "a98f9c7d0825252f37063b0c69a203325f5e5ba74d8e5a46f6917b0d6ecb71df",
    "0047_alerts.py": "b14a67760e23386403105a386c523a4b4e1c4730ab653ee6f38706b892372f11",
    "sql/0002_guard.sql": "e5c441cb97f6d4608008cd72fce00e21355a616a9e8cc50fb677d810f06537fe",
    "sql/0002_log.sql": "c1eb668a38a3780d1a9259c8c0ed66c026f57c79a0a32bbdfc0e3c944ebe5e36",
    "sql/0002_roles.sql": "d638857251b8dd794b78cb367745af9b93a5fae7d064d71da4678602519ed37e",
    "sql/0004_tree.sql": "8e4163f098441db01281d412cbf4e3f51dd3b2c8fd0dab670bb8ec1ff47a1b3d",
    "sql/0006_append_named.sql": "cc232a28e55b92a70306c7ace197b01f33ba3d30be88a6db6b0f338cb09150fe",
    "sql/0008_case_guard.sql": "a56dd4813a6994c78f140ba11f549235fc5e846af785e11f2b15426065f9be55",
    "sql/0014_close_maintenance.sql": "988c92927519ba27bcbf90dd1940858131058446a3a9dd1575be6a56cb2345cd",
    "sql/0015_deadlines.sql": "586ffcc4527a636137b769abd88149c6330b124ec69a70d2a6bc74468ff1ebc2",
    "sql/0016_content.sql": "f5926a5daf4423753c0adbaa310c52d0220513c7167da63a6448c1f12e73582c",
    "sql/0016_runs.sql": "cb4bcf6b18e9f914738ae86ab174deef5b3bdcab93116a50cd421570451c24aa",
    "sql/0016_what_stands.sql": "750ec4f74841072505f3c7edb5fbb0f0dec922502a9b488db7962148cdfdda02",
    "sql/0018_walls.sql": "627108eeac8b1181c01d2dca24c019a1b7722c17a2d90507fd70b1d9b260bdc7",
    "sql/0020_accounts.sql": "115b46600edcf2b5bb24cbc93769b6ff731f62fdf78c1731dcc04e906ea2f775",
    "sql/0022_account_functions.sql": "bf051afbb378d11c18e8ae01fa1c42ace37a2385a1570922fa239b7c795656b4",
    "sql/0023_content.sql": "af613f05d7baa8ccdd5e8b495990b2b88a0361dfae317553bea8828c82715c4d",
    "sql/0023_incidents.sql": "98a9c6537d2c8893906757b6535f5fe45f543e8533c85428bb631559d10e3362",
    "sql/0024_register.sql": "f756e610f7dd300ce7d6f2d9dc7eb57144f016c4271c4c2887fd96eac235904d",
    "sql/0025_corrections.sql": "e2e4324af3a74110dc42764e638c372ff0e75329a55d351fec23c983ff9ff5ce",
    "sql/0026_information.sql": "76800a3d21d6ae7673123d9d7caf3ec4130cc746d876c68ac877d6b4ae6355c3",
    "sql/0029_thresholds.sql": "52dd49203aa564e8cb3bc1ff591cbe74c0efef812060a39634bcc0b2299a9500",
    "sql/0030_questions.sql": "88219dbe222120355e2d4459e9fa85508da13cf5a3e1ca84845eaeee2c05d134",
    "sql/0033_shifts.sql": "e198640c927dbcc01bd339f69aec8931c07f9a0d26dc21840c6d9fa6121a313b",
    "sql/0039_recovery.sql": "5304bf8848ad8a7bc2d11e0434eafa3c962e0be1674903072dec6e58547f5696",
    "sql/0040_received_at.sql": "de99de30da7604d83c9a0165dfe80efbe691af49c32c489aef21830ba64b5cac",
    "sql/0041_archive.sql": "da9710e25bafa7f712231af31880bc135e9e3a5a7de1a7fc8f3dd8d0d23f10bd",
    "sql/0042_erasure.sql": "61b4f738d0dde48784050939b955d93381c71d93f327db6c910127a3f059e8ed",
    "sql/0042_signed_batches.sql": "ae6932bfd0c3da00bc0aa9f28c620c3aedb87f35257fecfc0a70980d5158db77",
    "sql/0043_references.sql": "bbef333cc64b60045e94dd42233ba46c932fa8c646afb59898b4e99aeae716fd",
    "sql/0043_single_sign_on.sql": "75336ac37d07ebd3d79d426b8ef2e09e33efcd981863b643faa8411c24fe3942",
    "sql/0044_feed.sql": "0e857c6a582c5449f4dd8accad9efa04eedc9902d7bf18d1d34c227bd9d81389",
    "sql/0045_sandbox.sql": "ffe33bd3bebc07fa27931161907f321af4aba69a1774e36993937016ff28816a",
    "sql/0046_heads_of_cases.sql": "ee5ea24495182bf43d4d9b98007d9f398985ef766cbdf43ebac30e8ba71b756f",
}
"""SHA-256 of each migration that somebody may have run, and of the SQL that it runs. Each release adds its own."""


@pytest.mark.parametrize("name", LANDED)
def test_a_landed_migration_is_as_it_landed(name: str) -> None:
    assert sha256((MIGRATIONS / name).read_bytes()).hexdigest() == LANDED[name], f"{name}: add another migration"


def test_every_migration_is_landed_or_follows_those_that_are() -> None:
    found = {path.relative_to(MIGRATIONS).as_posix() for path in [*MIGRATIONS.glob("0*.py"), *MIGRATIONS.glob("sql/*")]}
    last_landed = max(name for name in LANDED if "/" not in name)
    for name in found - LANDED.keys():
        assert Path(name).name > last_landed, f"{name} is not among those that landed, and sorts before their last"
