"""A stub of the Hugging Face Hub's HTTP interface on the loopback address."""

import base64
import contextlib
import hashlib
import http.server
import json
import re
import sys
import threading
import urllib.parse

import pytest

TOKEN = "hf_stub"


class Hub(http.server.ThreadingHTTPServer):
    """A hub in memory.

    `repositories` has a list of commits by name, each a dictionary of files; `cut` the number of
    bytes after which a file breaks off, once for each number of the list; `requests` what was asked
    for: method, path and range.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories, self.blobs, self.cut, self.requests = {}, {}, {}, []
        self.down = False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        pass

    def ranges_of(self, name):
        return [span for method, path, span in self.requests if method == "GET" and name in path]


@contextlib.contextmanager
def stub_hub(home):
    """A `Hub` that huggingface_hub, imported anew, takes for the one; `home` has its downloads."""
    server = Hub()
    with pytest.MonkeyPatch.context() as patch:
        forget_client(patch.delitem)
        patch.setenv("HF_ENDPOINT", server.address)
        patch.setenv("HF_HOME", str(home))
        patch.setenv("HF_TOKEN", TOKEN)
        for setting in ("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_PROGRESS_BARS"):
            patch.setenv(setting, "1")
        from huggingface_hub import constants, file_download

        patch.setattr(file_download.time, "sleep", lambda _: None)
        patch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
        yield server
        forget_client(dict.__delitem__)
    server.shutdown()


def forget_client(delete):
    for name in [name for name in sys.modules if name.partition(".")[0] == "huggingface_hub"]:
        delete(sys.modules, name)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status=200, content=b"", length=None, **headers):
        self.send_response(status)
        headers.setdefault("Content_Length", len(content) if length is None else length)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def reply_json(self, content, status=200):
        self.reply(status, json.dumps(content).encode(), Content_Type="application/json")

    def refuse(self, code):
        self.reply(404, X_Error_Code=code, X_Error_Message=code)

    def commit_id(self, name, number):
        return hashlib.sha1(f"{name} {number}".encode()).hexdigest()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = urllib.parse.unquote(self.path.partition("?")[0])
        span = self.headers.get("Range")
        self.server.requests.append((self.command, path, span))
        if self.server.down:
            return self.reply(503)
        name, revision, file = re.fullmatch("/(.+)/resolve/([^/]+)/(.+)", path).groups()
        commits = self.server.repositories.get(name)
        if commits is None:
            return self.refuse("RepoNotFound")
        ids = [self.commit_id(name, number) for number in range(len(commits))]
        if revision not in ("main", *ids):
            return self.refuse("RevisionNotFound")
        number = len(ids) - 1 if revision == "main" else ids.index(revision)
        content = commits[number].get(file)
        if content is None:
            return self.refuse("EntryNotFound")
        start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
        cuts = self.server.cut.get(file, []) if self.command == "GET" else []
        part = content[start:]
        sent = part[: cuts.pop(0)] if cuts else part
        self.reply(
            206 if span else 200,
            sent,
            len(part),
            ETag=f'"{hashlib.sha1(content).hexdigest()}"',
            X_Repo_Commit=ids[number],
            **(
                {"Content_Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
                if span
                else {}
            ),
        )
        if len(sent) < len(part):
            self.close_connection = True

    def do_PUT(self):
        size = int(self.headers["Content-Length"])
        self.server.blobs[self.path.rpartition("/")[2]] = self.rfile.read(size)
        self.reply()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urllib.parse.unquote(self.path.partition("?")[0])
        self.server.requests.append(("POST", path, None))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.reply(401, X_Error_Message="Invalid credentials in Authorization header")
        if path == "/api/repos/create":
            content = json.loads(body)
            name = f"{content['organization'] or 'me'}/{content['name']}"
            if name in self.server.repositories:
                return self.reply_json({"url": f"{self.server.address}/{name}"}, 409)
            self.server.repositories[name] = []
            return self.reply_json({"url": f"{self.server.address}/{name}"})
        if path == "/api/validate-yaml":
            return self.reply_json({"errors": [], "warnings": []})
        if path.endswith("/objects/batch"):
            return self.reply_json(
                {"objects": list(map(self.instruct, json.loads(body)["objects"]))}
            )
        name, action = re.fullmatch("/api/models/(.+)/(preupload|commit)/main", path).groups()
        if action == "preupload":
            return self.reply_json({"files": list(map(self.mode_of, json.loads(body)["files"]))})
        return self.commit(name, [json.loads(line) for line in body.splitlines()])

    def instruct(self, item):
        address = f"{self.server.address}/blobs/{item['oid']}"
        return {**item, "actions": {"upload": {"href": address}}}

    def mode_of(self, file):
        mode = "lfs" if file["path"].endswith(".h5") else "regular"
        return {"path": file["path"], "uploadMode": mode, "shouldIgnore": False}

    def commit(self, name, lines):
        commits = self.server.repositories[name]
        files = dict(commits[-1]) if commits else {}
        for item in (line["value"] for line in lines if line["key"] != "header"):
            blob = self.server.blobs.get(item.get("oid"))
            files[item["path"]] = base64.b64decode(item["content"]) if blob is None else blob
        commits.append(files)
        number = self.commit_id(name, len(commits) - 1)
        address = f"{self.server.address}/{name}/commit/{number}"
        return self.reply_json({"commitUrl": address, "commitOid": number})
