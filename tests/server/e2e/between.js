// A server between the page and the service, which makes it slow, busy or gone.
"use strict";
const http = require("http");

// on(req, res) answers, or returns false to let the service do it, at once or, by a promise, later.
exports.between = async (url, on) => {
  const server = http.createServer(async (req, res) => {
    if (await on(req, res)) return;
    const to = http.request(url + req.url, { method: req.method, headers: req.headers }, (r) => {
      res.writeHead(r.statusCode, r.headers);
      r.pipe(res);
    });
    to.on("error", () => res.destroy());
    req.pipe(to);
  });
  const listen = (port) => new Promise((done) => server.listen(port, "127.0.0.1", done));
  await listen(0);
  const { port } = server.address();
  return { url: "http://127.0.0.1:" + port, again: () => listen(port), close: () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  } };
};

exports.refuse = (req, res, status, message, headers = {}) => {
  req.resume();
  res.writeHead(status, { "Content-Type": "application/json", ...headers });
  res.end(JSON.stringify({ error: { type: "x", code: "x", message } }));
  return true;
};
