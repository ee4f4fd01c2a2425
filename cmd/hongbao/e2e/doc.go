// Package e2e is the harness of the end-to-end tests: it builds the program, starts it as people run it, and drives it with
// real clients. The tests stand in the folders below, one for each subject:
//
//	embedded   one server without other engines: packets and grabs, hooks, Web Push, TLS, traces, bytes that no library would send
//	crash      servers and engines that are killed in the midst of work, and what must hold afterwards
//	chaos      three servers whose engines, links, clocks and processes break by seed, checked after each fault
//	scaled     three servers over one Redis and one Postgres, while parts of that pause, fail or lose their connection
//	sdk        every scenario of a client's life, with each SDK that we support, unchanged
//	attacks    what strangers, guests, users and readers of files must not be able to do: the findings of SECURITY.md
//	restored   a database that lost its last commits, or was backed up, restored or moved: clients end with what it has
//	proxies    three servers behind the nginx and the HAProxy of web/docs/deploy, restarted or upgraded one after the other
//	browser    the page, in Chromium
//	host       two back ends of hosts, written from the documents alone, while two of three instances are killed
//	debian     the program in an empty Debian, and in the image of the Dockerfile
//	npm        the npm package, a client generated from the OpenAPI document, and the linters of others
//	load       very many sockets: a crowd on three servers that fail, the memory of idle ones, thousands of reconnects at once
//
// It owns the built binaries, the server processes, and the load balancer and slow links between clients and servers. It must
// always hold: a server ends with the test that started it, at the latest; its log is shown when that test fails; a test sees no
// more of a server process than users and operators do (sockets, HTTP, the operator's pages, the command line and the log). Some
// tests also read or change the data in SQL, Redis or files, or break these engines. How long something takes decides a verdict only in
// make nightly (Timed, Limit, MustTake).
package e2e
