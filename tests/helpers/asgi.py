"""Ask an application in this process, without a socket."""

import asyncio

import httpx


class Client:
    """Requests to an application, one after the other."""

    def __init__(self, app, host="127.0.0.1"):
        self.app, self.host = app, host

    def request(self, method, path, **options):
        """One request; an error inside the application is an answer with the status 500."""
        return asyncio.run(self._request(method, path, **options))

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)

    async def _request(self, method, path, **options):
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False, client=(self.host, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, **options)
