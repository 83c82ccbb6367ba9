"""Files that are no scenes, and texts that are made to harm."""

import io
import sys

import pytest

from sapsim.errors import SceneError
from sapsim.scene.read import load, loads

HEAD = "sapsim: 1\ntime_step: 0.001\nsteps: 10\n"


def errors_of(text):
    """The errors of a text, which must have some."""
    with pytest.raises(SceneError) as caught:
        loads(text)
    return caught.value.errors


def test_load_reads_a_file_and_standard_input(tmp_path, monkeypatch):
    path = tmp_path / "ball.yaml"
    path.write_text(HEAD)
    assert load(path).name == "ball"
    assert load(str(path)).file == str(path)

    class Stdin:
        buffer = io.BytesIO(HEAD.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    scene = load("-")
    assert (scene.name, scene.file) == ("stdin", "<stdin>")


def test_missing_file(tmp_path):
    (tmp_path / "ball.yaml").write_text(HEAD)
    path = tmp_path / "bal.yaml"
    with pytest.raises(SceneError) as caught:
        load(str(path))
    (error,) = caught.value.errors
    assert (error.file, error.code) == (str(path), "missing-file")
    assert "ball.yaml" in error.suggestion


@pytest.mark.parametrize(
    ("name", "content", "code", "place"),
    [
        ("empty.yaml", b"", "empty", (1, 1)),
        ("blank.yaml", b" \n\n", "empty", (1, 1)),
        ("comment.yaml", b"# nothing\n", "empty", (1, 1)),
        ("latin.yaml", b"sapsim: 1\nname: caf\xe9\n", "not-utf8", (2, 10)),
        ("control.yaml", b"sapsim: 1\nname: a\x07b\n", "yaml-syntax", (2, 8)),
        ("list.yaml", b"- 1\n- 2\n", "wrong-type", (1, 1)),
        ("word.yaml", b"hello\n", "wrong-type", (1, 1)),
        ("robot.urdf", b"<robot/>", "not-a-scene", (0, 0)),
        ("scene.txt", b"sapsim: 1", "unknown-format", (0, 0)),
    ],
)
def test_files_that_are_no_scenes(tmp_path, name, content, code, place):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SceneError) as caught:
        load(path)
    (error,) = caught.value.errors
    assert (error.file, error.code, (error.line, error.column)) == (str(path), code, place)


def test_a_folder_is_no_scene(tmp_path):
    with pytest.raises(SceneError) as caught:
        load(tmp_path)
    assert [e.code for e in caught.value.errors] == ["missing-file"]


def test_alias_bomb_is_refused_before_it_is_expanded():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    (error,) = errors_of(HEAD + "\n".join(lines))
    # a0 has 11 nodes, each of the others ten times as many and one: a5 is the first above a million
    assert (error.code, error.line) == ("alias-bomb", 4 + 5)


def test_aliases_cannot_nest_deeper_than_lists_can():
    lines = ["a0: &a0 [1]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 1200)]
    (error,) = errors_of(HEAD + "\n".join(lines))
    assert error.code == "too-deep"


def test_an_alias_of_itself_is_refused():
    (error,) = errors_of(HEAD + "bodies: &b {c: *b}\n")
    assert (error.code, error.line, error.column) == ("yaml-syntax", 4, 16)


def test_deep_nesting_is_refused():
    (error,) = errors_of(HEAD + "bodies: " + "[" * 5000 + "]" * 5000)
    assert (error.code, error.line) == ("too-deep", 4)
