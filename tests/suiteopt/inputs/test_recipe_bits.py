"""The bits of every recipe, as literal hashes: a change here is a new version of a recipe."""

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest
import torch

from suiteopt.inputs import recipes
from suiteopt.inputs.recipes import RECIPES, generate

# Recipe: SHA-256 of its float32 bits, little-endian, at (7, 33) under seed 12345 and at
# (3, 5, 64) under seed 2**40 + 7, all arguments at their defaults.
DEFAULTS: Mapping[str, tuple[str, str]] = {
    "uniform": (
        "94b56410e067cd905183d3a3db9f64765eef6b68c00bf4f4805d7bddedabce5c",
        "33285d2198c9e6e330b3004fd25d177fce061a95a53ac100b4e92bbdf7e18d21",
    ),
    "signed-uniform": (
        "2994b681291f727db15f8d1b9fde66afc5fba8e7af2ac5d618ae9d5044a12e85",
        "863b3dbc62406e692a5971b5f149072890fca304cf581c62e905a66369871166",
    ),
    "normal": (
        "ebb567531b9e0a3d9832666ad40248bec251bc24c059b767f2b6123a4c00f1fe",
        "78a49b4c4a5d684020b95677e440211ca2e5a22a3b760ad34c1db62444e17555",
    ),
    "heavy-tail": (
        "c6575dcb11a1a42c1f8ba44f18603a50579fca660d46443270080013932d6bd6",
        "f9c056f51e1ce70f7b7cd9fdf9caf25fd9e32c2def38583fcf8febb4a4edda67",
    ),
    "octaves": (
        "750f8f52b7a50d331bfd46d27e96a0b53a125bcb40f8f2268652ddf692efe9cc",
        "c486812ebdc2013da461ea04306685fb54760478d3408e0f1981812c3dde3146",
    ),
    "beyond-half": (
        "41cf320e168b644f257648108a29d2c47fc9478a03f2611bbfbb8401f327e259",
        "bffa251bb85dde7623ed72a412bb203b60bf30ca040cd2e4fca2507b9f930df7",
    ),
    "below-half": (
        "1a47b18e9b1ca8b45546b1a9db427f7d665874b703068cf8b5f7999259e874a8",
        "b93e6068f5a875691e40c990731c1fd8a0a897303df482ee557dd10711cab06f",
    ),
    "lattice": (
        "4f8bc8c15494db3f76e0384948be85d8706d1a8780057d5f3467fa0ed777e715",
        "ad264508fe166fdd5a80f62bc153e5ebcc718b448b5aad85eda7f311e97d011e",
    ),
    "residue": (
        "c252263dfb008ae57157acaf0ad9fdd8c57e321735ba060ea94ed99223666251",
        "8e555894aed1b9e1100f5e7c1cb7556b938304ac2e89e5bdf0199a4a0e15a4cc",
    ),
    "powers": (
        "3decfd0fabfcbd6f217b690273754296f0f06ebb3204beae3d5c43947b394edf",
        "0f00493f26344468559267a04f0a053496bed3e31e5123af6f0ad9dc72f30617",
    ),
    "constant": (
        "c7f653040c9c8296b123ac3df42a35a895563477f6dcc40ed03d06d94405f54f",
        "6fdb65fd837a7e5b5106e71c2ea8a9e9af684f92b9deadc0c9537ab33efa79e1",
    ),
    "alternating": (
        "76cb07c5f45ef39ff01b60eb6a41527d09c02c63b42d5c14663e80b8c7ae1431",
        "6bd63938e47f00409ef098978e25b5f560c97c0eef942c387342d4c74be5b718",
    ),
    "pairs": (
        "62806b9a641f2ca3fc2aba4639628f2e4feb8040e83c9d98865f0d067e2907aa",
        "e6a3058763157f9999d2a459c72ce8c0c59bd9f22705f48f84cda6d917947e0d",
    ),
    "offset": (
        "7d17b0a616f3f7d91cd237bea15739f6318b08ec38a7fbc3dded3ec7325f0e7a",
        "c3680f0c779f45eeabab51ee93e090354b6c001cd93266c0222ed3c4521f9ff3",
    ),
    "rows": (
        "9e92014c5c4b94015cc90ece4e7ab4bd019327f1c0de92936cdbf4c5ec59d95c",
        "5972e3a6448fa8ea08ca209756e3b27a905d8dda4419dc850d20084dde0979cd",
    ),
    "ramp": (
        "5c432658888d1130d7a25030c951de5f6aaf22c42882bf9b9f0dc42982261819",
        "68441418f500ad0075ae6c0238952081b5a5720295229a44ce15a061d79e9d69",
    ),
    "impulse": (
        "9990dc2ea12c904178640f68e8ffc34810816a4806908169af7bc70b52adfe1d",
        "4a2ecc612e4be99f8d9d464200b6dff3fe84ad132e7fccdef123ef38f9c82f58",
    ),
    "tile-edges": (
        "dfd335ab1c7c09fe04ab5a2e3c1c37ae381a7a8b267a4a87788942cf47cc50eb",
        "d735a057410dac3b311448bbd124ec727bf8be75e8847b47e93ca8f8460a2f85",
    ),
    "sparse": (
        "5a38a14e2cb04f5607ce7ea24b12efa73f78176b06236d2f0ece1df63c28e475",
        "33c689d5c241a1aeaadd3f0a4997b4ae8abf1e37866c31e4e6520e291d982344",
    ),
    "few": (
        "ec47b9481f7a410ec8529fde2b534c2d1b1472f11ad95d10259d8a648481ce6c",
        "111f93341060ce2d644e96468df3a8abc14a0d5ae4edc47270324f31b889ce6a",
    ),
    "sorted": (
        "58110834e3c62b2546bc73fa94ffc49f9773422ad9e7a2942f51e87213c4c32a",
        "66e9754eb0259137734604d5d2852df300653f21efe721b40541eb382e27526b",
    ),
    "hot": (
        "c4fe1c34ee8be7e05a67a9d67d69fc5696df29ed2cfa511ba4e32a8ffecc2ef7",
        "a8af133a74f7b5dde6bd47b6daa529ea323272ef5ab89900445d0116e246405d",
    ),
    "zeros-denormals": (
        "e19ba47d6f92837da43eb9a59c2310d521f0929d55d13a28e507b06e1e1c7c86",
        "fb43c3bc6f6536d1906f7aeee16e36a1159301b8e54a6430206d497ccef0d8e7",
    ),
    "nonfinite": (
        "279febe24bdc3ef31823b60280e14c5edd3bfcd959f78e25c93b5c2506060f84",
        "8e0a2de04686e14695b9091e106d79241e6f8fa317503209e0fdc2f78384ed81",
    ),
    "away": (
        "3f074ea6d1541965b88754a1c9e2a7d430763b5ac6cd329164cc2b49d94e4099",
        "5be9717eb11f7f5f0106ae4f11a1598c6aff1cc222e9b0136679f78171e46e08",
    ),
    "blend": (
        "ebb567531b9e0a3d9832666ad40248bec251bc24c059b767f2b6123a4c00f1fe",
        "78a49b4c4a5d684020b95677e440211ca2e5a22a3b760ad34c1db62444e17555",
    ),
    "ends": (
        "2bd576a7659096e2f394451ca4d19879c1145f99f912e54d6d53c275a91eacb3",
        "be561fb439a92b5ee2cb65a9950a3bd83f4ece1675b741fbb304882861f8df3b",
    ),
    "lanes": (
        "af7d2715b3297eeb06b8e0af5146201e95cf1f68ba6a594179e8c8df6c00a81d",
        "f4d537f767a61c9f5fab2b306941b3df815cd1c99eac39c108581b913ea53c8d",
    ),
    "sunken": (
        "251ee3864b8e99ae72caaad5fab431f65e52dda560800454de0078bb75ae54c4",
        "d74aecd14c1a85504508f21e4aed914f41cc4a7ac82bea93fa6d18beebfe02f7",
    ),
}

# With other arguments, at (3, 5, 64) under seed 99.
VARIED: list[tuple[str, dict[str, Any], str]] = [
    (
        "normal",
        {"exponent": -7},
        "a513ecf691a670d5bdb8454b596b7ef38a8186a2ad02a6affee0ae6d80fb2e20",
    ),
    (
        "heavy-tail",
        {"levels": 16},
        "5ba2120df60aef44a9db8bbf105a2a6dc8128d59ba85416f1d4d293cc1f5d351",
    ),
    (
        "lattice",
        {"width": 1000},
        "049f54365dcd36fc423d3ce0d21841f642dc4bc676096d64fb3b7198d7d5a860",
    ),
    (
        "residue",
        {"modulus": 31},
        "b201a5cd65b78d5a2f732a3771bcb43a02b3394058baed0d347a7fc6d47b2707",
    ),
    (
        "constant",
        {"numerator": -3, "exponent": -1},
        "23ea3ec4fc4e1d3d77ffac6aad1a42fffa82cbd51f0394a4cad1cd9e1373fea3",
    ),
    (
        "alternating",
        {"axes": 2},
        "4ce221cc0d754a38f86eb868456f2900916d87cd4544e7b34e0d724ee4152329",
    ),
    (
        "pairs",
        {"mirror": True, "axes": 2},
        "aede15fec07659449152c84179af516fb862478a80bb6143b162bfc83cb0ffb4",
    ),
    (
        "offset",
        {"offset": -300, "spread": 2},
        "ed6d7f33a0ae47b093e693412ec17de3915cb8c40d576ba6b8d0ed001ccf4b98",
    ),
    (
        "rows",
        {"levels": 64, "spread": -8},
        "9217c7903b493b4b8d0e1c428c604f56183b696e5cab8f5441686adc15ac8bed",
    ),
    ("ramp", {"span": 6}, "2b35788242b59daac4ce174ae93736a4f92ebc73fdec898a8893fc9bd9303efd"),
    (
        "impulse",
        {"place": "random", "noise": True},
        "0c374651de705d1bc27432eb4605ea4b5525870c2ab6f02a102eca8f3c9f221a",
    ),
    (
        "tile-edges",
        {"tile": 8, "noise": True},
        "cf75bfde3c504ee71b5f86168d4455b71169aa88aa3ba0f3397db2c0663995b2",
    ),
    (
        "sparse",
        {"one_in": 4, "noise": True},
        "c9514c6ba3720cd10283126db9b019b5aa649e82ecea1a5673eb2180079656ca",
    ),
    ("few", {"count": 8}, "ed8df403864bc3c97c237ac44074a8d5df60bad2601a31c6189379c26a65aa53"),
    (
        "sorted",
        {"descending": True, "axes": 2},
        "b3ee991d6407e69f16c96aae412db6224a3fd6de035b4f9b7c2afdf45329abd1",
    ),
    (
        "hot",
        {"heat": 80, "count": 3},
        "63b2b25d47b1b99875c54bf03715f46e914688e2fec8b7e7f2290a226c7c5874",
    ),
    ("hot", {"place": "last"}, "dae5bf54b31f5ed81fb197b8ac17a91667f836417d2de6ab2f901871b689288f"),
    (
        "nonfinite",
        {"special": "nan"},
        "755604df539da1d90a99167902748206fa4c815b78141e4c8d2b50dcc19adb26",
    ),
    (
        "away",
        {"sixteenths": 8, "exponent": 3},
        "a5076fd2b5e200e822df340954ebdf4835e7af293e9785e158720352153d7e4d",
    ),
    (
        "blend",
        {
            "base": "octaves",
            "exponent": -2,
            "offset": 3,
            "one_in": 3,
            "levels": 9,
            "noise": True,
            "axes": 2,
        },
        "307db9c8eb3741be0a35a43e0b1ab89cd1aeb9239222e78c12d57885511d4ba0",
    ),
    (
        "ends",
        {"base": "normal", "exponent": -2, "lift": 3, "count": 1, "axes": 2},
        "9e31e49063fcfced33c898a0e7f5fae5ef4cfb7d113de72b1ec1dbb92a0adeb4",
    ),
    (
        "lanes",
        {"low": -10, "high": 7},
        "6d6611b0463fe98516cca6e65effab13a294ccb78265c72d8bf3ecdd13b8415e",
    ),
    (
        "sunken",
        {"exponent": -4, "levels": 9, "axes": 2},
        "ec9939d1494edabab3c3b9ca2c73eb99c59e56ebdf9a4f0e81b946c8dfa852bd",
    ),
]


def bits_hash(tensor: torch.Tensor) -> str:
    bits = tensor.contiguous().view(torch.int32).numpy().astype("<i4")
    return hashlib.sha256(bits.tobytes()).hexdigest()


def test_every_recipe_has_its_hashes() -> None:
    assert set(DEFAULTS) == set(RECIPES)


@pytest.mark.parametrize("name", DEFAULTS)
def test_bits_at_default_arguments(name: str) -> None:
    assert bits_hash(generate(name, (7, 33), 12345)) == DEFAULTS[name][0]
    assert bits_hash(generate(name, (3, 5, 64), 2**40 + 7)) == DEFAULTS[name][1]


@pytest.mark.parametrize(("name", "arguments", "expected"), VARIED)
def test_bits_at_other_arguments(name: str, arguments: dict[str, Any], expected: str) -> None:
    assert bits_hash(generate(name, (3, 5, 64), 99, arguments)) == expected


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("chunk", [1, 17, 64])
def test_chunks_change_no_bit(name: str, chunk: int) -> None:
    whole = generate(name, (3, 5, 64), 5)
    parts = generate(name, (3, 5, 64), 5, chunk=chunk)
    assert torch.equal(whole.view(torch.int32), parts.view(torch.int32))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RECIPES)
def test_a_gpu_gives_the_same_bits(name: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    assert bits_hash(generate(name, (7, 33), 12345, device="cuda").cpu()) == DEFAULTS[name][0]
    assert (
        bits_hash(generate(name, (3, 5, 64), 2**40 + 7, device="cuda").cpu()) == DEFAULTS[name][1]
    )


def test_a_registered_hash_is_asked_and_gets_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hasher sees every index tensor of its device and the keys of seed and stream."""
    plain = generate("normal", (3, 5, 64), 7)
    asked: list[tuple[int, int]] = []

    def hasher(at: torch.Tensor, first: int, second: int) -> torch.Tensor:
        asked.append((first, second))
        inner = recipes._mix((at & 0xFFFFFFFF) ^ first)
        return recipes._mix(((inner + (at >> 32) * 0x2C1B3C6D) & 0xFFFFFFFF) ^ second)

    monkeypatch.setitem(recipes.HASHERS, "cpu", hasher)
    assert torch.equal(generate("normal", (3, 5, 64), 7), plain)
    assert len(set(asked)) == 4


@pytest.mark.gpu
@pytest.mark.parametrize("seed", [0, 1, 2**63 + 5])
def test_the_hash_of_a_gpu_is_that_of_torch(seed: int) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    from gpu_eval.devices import cuda_hash

    at = torch.tensor([0, 1, 2**31, 2**32 - 1, 2**32, 2**40 + 3, 2**63 - 1])
    wanted = recipes._hash(at, seed, 3)
    recipes.HASHERS["cuda"] = cuda_hash.hashed
    try:
        assert torch.equal(recipes._hash(at.cuda(), seed, 3).cpu(), wanted)
        large = recipes.generate("hot", (1 << 20,), seed, device="cuda", chunk=1 << 19)
        del recipes.HASHERS["cuda"]
        assert torch.equal(large.cpu(), recipes.generate("hot", (1 << 20,), seed))
    finally:
        recipes.HASHERS.pop("cuda", None)
