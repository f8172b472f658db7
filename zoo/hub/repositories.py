"""Presets on the Hugging Face Hub: `hf://user/name`, or `hf://user/name@revision`."""

import contextlib
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from keras_corefmem.utils.extras import extra
from keras_corefmem.utils.files import read_text
from zoo.hub import folders
from zoo.hub.model_card import with_handle
from zoo.hub.record import Preset

PREFIX = "hf://"


def upload_preset(uri: str, folder: str | os.PathLike, private: bool = False) -> str:
    """Uploads a preset to the Hugging Face Hub, in one commit.

    This needs `pip install keras_corefmem[hub]`, and `hf auth login` once. The uploaded model card
    shows how to load the preset from the hub.

    Args:
        uri: `"hf://user/name"`, or `"hf://name"` for a repository of your own.
        folder: folder that `model.save_to_preset` wrote.
        private: whether a new repository is private.

    Returns:
        The address of the repository's page.

    Raises:
        FileNotFoundError: if a file of the preset is missing.
        ValueError: if the URI is invalid, a file is damaged, or you may not write there.
        ConnectionError: if the hub cannot be reached.

    Example:

    >>> zoo.from_preset("qrn_babi_1").save_to_preset("my_reader")
    >>> def publish():
    ...     return zoo.upload_preset("hf://user/my_reader", "my_reader")
    """
    name, revision = _address(uri)
    if not uri.startswith(PREFIX) or revision:
        raise ValueError(f"uri must be hf://user/name; got {uri!r}.")
    folder = pathlib.Path(folder).expanduser()
    folders.verify_folder(folder)
    card = read_text(pathlib.Path(folder, folders.CARD), "Markdown")
    with _clear_errors(uri) as client:
        repository = client.create_repo(name, private=private, exist_ok=True)
        card = with_handle(card, PREFIX + repository.repo_id)
        contents: dict[str, Any] = {name: str(pathlib.Path(folder, name)) for name in folders.FILES}
        contents[folders.CARD] = card.encode()
        client.create_commit(
            repository.repo_id,
            [client.CommitOperationAdd(name, content) for name, content in contents.items()],
            commit_message="Upload a preset of keras_corefmem",
        )
    return str(repository)


def read_repository(handle: str) -> Preset:
    """Reads a preset of the hub, whose files are downloaded when needed, and cached.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if there is no such repository, or a file is damaged.
        ConnectionError: if the hub cannot be reached, and the files are not cached.
    """
    name, revision = _address(handle)

    def find(file: str, again: bool = False) -> pathlib.Path:
        nonlocal revision
        with _clear_errors(handle, file) as client:
            path = client.hf_hub_download(name, file, revision=revision, force_download=again)
        if file == folders.CONFIG:
            # Read the other files from the same commit, even if the branch moves meanwhile.
            revision = pathlib.Path(path).parent.name
        return pathlib.Path(path)

    return folders.read_folder(handle, find, lambda file: find(file, again=True))


def _address(handle: str) -> tuple[str, str | None]:
    name, _, revision = handle.removeprefix(PREFIX).partition("@")
    return name, revision or None


@contextlib.contextmanager
def _clear_errors(handle: str, file: str = "") -> Iterator[Any]:
    """Yields the client of the hub, and turns its errors into messages that say what to do."""
    place = f"{handle}: {file}" if file else handle
    with extra("hub", f"{handle} needs huggingface_hub"):
        import huggingface_hub as client
        from huggingface_hub import errors
    try:
        yield client
    except errors.HFValidationError:
        raise ValueError(
            f"{handle!r} is not an address of the hub: write hf://user/name or hf://user/name@revision."
        ) from None
    except errors.RevisionNotFoundError:
        message = f"{handle}: there is no such revision; name a branch, tag or commit after @."
        raise ValueError(message) from None
    except errors.RemoteEntryNotFoundError as error:
        raise FileNotFoundError(
            f"{place}: no such file, so the preset is incomplete: choose another one, or have it "
            "uploaded again by zoo.upload_preset."
        ) from error
    except (errors.RepositoryNotFoundError, errors.LocalTokenNotFoundError) as error:
        raise ValueError(
            f"{handle}: no such repository, or it is not yours to use: check the name, and run "
            "`hf auth login` or set HF_TOKEN."
        ) from error
    except (errors.HTTPError, OSError) as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in (401, 403):
            raise ValueError(
                f"{handle}: the hub refuses ({_line(error)}): run `hf auth login`, or set HF_TOKEN "
                "to a token that may write there."
            ) from error
        raise ConnectionError(
            f"{place} was not transferred ({_line(error)}): check the connection and try again; "
            "what is complete stays."
        ) from error


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
