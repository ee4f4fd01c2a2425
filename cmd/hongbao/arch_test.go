package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ourModule is the path of this module, which make module changes in import paths.
var ourModule = path.Dir("hongbao/cmd")

// rule says what a package may import besides the standard library, which packages of the standard library it must not import,
// and why. Imports point one way: cmd -> web -> {hub, chat, redpacket, wire}, redpacket -> chat, stores -> domain.
type rule struct {
	may    []string
	mayNot []string
	why    string
}

func importRules() map[string]rule {
	return map[string]rule{
		"hongbao/chat": {
			may:    []string{"hongbao/chat/rules", "hongbao/chat/words", "hongbao/redpacket/crashpoint", "golang.org/x/sync/errgroup", "golang.org/x/text/unicode/norm"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "rooms and members do not depend on a driver, router or wire format",
		},
		"hongbao/chat/archive": {
			may:    []string{"hongbao/chat", "hongbao/chat/files"},
			mayNot: []string{"database/sql", "net/http", "os"},
			why:    "its caller says which files and which database it reads and writes",
		},
		"hongbao/chat/archive/slack": {
			may:    []string{"hongbao/chat", "hongbao/chat/archive"},
			mayNot: []string{"database/sql", "net/http", "os"},
			why:    "it turns a zip file into lines, and writes nothing else",
		},
		"hongbao/chat/files": {
			may:    []string{"hongbao/chat", "hongbao/chat/media", "hongbao/redpacket/crashpoint", "hongbao/redpacket/keylock", "hongbao/redpacket/meter", "golang.org/x/text/unicode/norm"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "uploads do not depend on a driver, a router or an object store",
		},
		"hongbao/chat/media": {
			may:    []string{"hongbao/chat", "golang.org/x/image/draw", "golang.org/x/image/webp"},
			mayNot: []string{"database/sql", "net/http", "os"},
			why:    "it turns bytes into bytes, and does not know where they come from or go",
		},
		"hongbao/chat/rules": {
			may: []string{"golang.org/x/text/unicode/norm"},
			why: "it judges texts, and knows no rooms",
		},
		"hongbao/chat/words": {
			may: []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"},
			why: "how texts are split into words depends on nothing that stores them",
		},
		"hongbao/redpacket/keylock": {why: "a lock knows nothing of its key"},
		"hongbao/redpacket/meter":   {why: "every package may measure with it, so it imports none"},
		"hongbao/redpacket/proof": {
			mayNot: []string{"database/sql", "net/http"},
			why:    "the server and verifiers of other teams share the arithmetic of shares, so it imports none of our packages",
		},
		"hongbao/redpacket": {
			may:    []string{"hongbao/chat", "hongbao/redpacket/keylock", "hongbao/redpacket/meter", "hongbao/redpacket/proof", "hongbao/redpacket/crashpoint", "hongbao/redpacket/trace", "golang.org/x/sync/singleflight", "golang.org/x/text/unicode/norm"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "the rules of money can be read and simulated without any engine",
		},
		"hongbao/redpacket/trace": {
			may:    []string{"go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/trace"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "every package may record spans with it, so it imports none, and of OpenTelemetry the API only",
		},
		"hongbao/web/ops/traces": {
			may: []string{
				"hongbao/redpacket/trace", "go.opentelemetry.io/otel", "go.opentelemetry.io/proto/otlp/trace/v1", "google.golang.org/protobuf/proto",
			},
			mayNot: []string{"database/sql"},
			why:    "it sends the spans that others record, and knows none of their names",
		},
		"hongbao/redpacket/lobby": {
			may:    []string{"hongbao/chat", "hongbao/redpacket"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "its user calls the services as clients do",
		},
		"hongbao/redpacket/crashpoint": {why: "every package may import it, so it imports none"},
		"hongbao/hub": {
			may: []string{
				"hongbao/hub/internal/compare", "hongbao/hub/internal/envelope", "hongbao/hub/internal/openset", "hongbao/hub/internal/poll",
				"hongbao/hub/internal/socket", "hongbao/hub/internal/wheel",
				"hongbao/hub/internal/work", "github.com/gorilla/websocket",
			},
			mayNot: []string{"encoding/json", "database/sql"},
			why:    "the hub knows connections and bytes: no JSON, SQL, money, rooms or tokens",
		},
		"hongbao/hub/internal/compare": {
			may: []string{"hongbao/hub/internal/work"},
			why: "a comparison knows positions, and neither connections nor messages",
		},
		"hongbao/hub/internal/envelope": {why: "bytes on the bus depend on neither connections nor topics"},
		"hongbao/hub/internal/openset":  {why: "a set, whatever is in it"},
		"hongbao/hub/internal/poll":     {why: "a poller knows file descriptors, and neither WebSockets nor topics"},
		"hongbao/hub/internal/socket": {
			may:    []string{"hongbao/hub/internal/poll", "hongbao/hub/internal/wheel", "github.com/gorilla/websocket"},
			mayNot: []string{"encoding/json", "database/sql"},
			why:    "a socket is one connection: it knows neither topics nor the bus",
		},
		"hongbao/hub/hubtest":        {may: []string{"hongbao/hub"}, why: "a bus inside one process, for tests"},
		"hongbao/hub/internal/wheel": {why: "timers know no more of their owners than how to fire"},
		"hongbao/hub/internal/work":  {why: "a queue knows nothing of its items"},
		"hongbao/store/lineage":      {why: "whether the database has lost commits is decided without knowing rooms, money or engines"},
		"hongbao/store/eventlog": {
			may:    []string{"hongbao/chat", "hongbao/redpacket"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "what an event refers to, and where a reader stands, is the same in both databases",
		},
		"hongbao/store/security": {why: "what administrators and strangers did is recorded without knowing rooms, money or engines"},
		"hongbao/store/chart": {
			may: []string{"hongbao/redpacket/meter"},
			why: "figures are kept without knowing rooms, money or engines",
		},
		"hongbao/store/trail": {why: "refused grabs and ends of sockets are kept without knowing rooms, money or engines"},
		"hongbao/migrations":  {why: "schemas are data"},
		"hongbao/store": {
			may: []string{
				"hongbao/chat", "hongbao/chat/archive", "hongbao/chat/files", "hongbao/redpacket", "hongbao/hub", "hongbao/redpacket/meter", "hongbao/store/eventlog", "hongbao/store/finding", "hongbao/store/lineage", "hongbao/store/security", "hongbao/store/trail", "hongbao/store/chart",
				"hongbao/store/memstore", "hongbao/store/objects", "hongbao/store/secret", "hongbao/store/sqlitestore", "hongbao/store/redisstore", "hongbao/store/pgstore",
				"hongbao/migrations",
			},
			why: "it picks engines for the domain's contracts, and does not know their callers",
		},
		"hongbao/store/chain": {
			may:    []string{"hongbao/chat", "hongbao/redpacket", "hongbao/store/secret"},
			mayNot: []string{"database/sql"},
			why:    "a hash is the same whichever database the row is read from",
		},
		"hongbao/store/objects": {
			may:    []string{"hongbao/chat", "hongbao/chat/files", "github.com/minio/minio-go/v7"},
			mayNot: []string{"database/sql"},
			why:    "it stores bytes under names, and does not know who may read them",
		},
		"hongbao/store/tables": {
			may: []string{"hongbao/chat", "hongbao/chat/archive", "hongbao/chat/files", "hongbao/chat/words", "hongbao/redpacket", "hongbao/redpacket/proof", "hongbao/store/chain", "hongbao/store/cursor", "hongbao/store/eventlog", "hongbao/store/secret", "hongbao/store/security", "hongbao/store/chart", "hongbao/store/trail"},
			why: "what both databases do in the same way depends on neither driver",
		},
		"hongbao/store/audit": {
			may: []string{"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/proof", "hongbao/store/chain", "hongbao/store/tables"},
			why: "the books are compared in the same way, whichever database they are read from",
		},
		"hongbao/store/secret": {
			may:    []string{"hongbao/redpacket"},
			mayNot: []string{"database/sql"},
			why:    "a value is encrypted the same way for either database",
		},
		"hongbao/store/cursor": {
			may: []string{"hongbao/chat"},
			why: "a cursor means the same whichever database the list is read from",
		},
		"hongbao/store/finding":    {why: "each engine tells what it finds, so it imports none"},
		"hongbao/store/enginetest": {may: []string{"golang.org/x/sys/unix"}, why: "tests of every package may use it, so it imports none of them"},
		"hongbao/store/loopback": {
			may:    []string{"github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9"},
			mayNot: []string{"database/sql"},
			why:    "it starts servers, and does not know what they are used for",
		},
		"hongbao/store/memstore": {
			may:    []string{"hongbao/chat", "hongbao/redpacket"},
			mayNot: []string{"database/sql"},
			why:    "an engine implements contracts of the domain, and knows no other engine",
		},
		"hongbao/store/redisstore": {
			may: []string{
				"hongbao/chat", "hongbao/redpacket", "hongbao/hub", "hongbao/redpacket/meter", "hongbao/store/finding", "hongbao/store/lineage",
				"hongbao/store/redisstore/internal/bus", "hongbao/store/redisstore/internal/nodes", "hongbao/store/redisstore/internal/pool", "hongbao/store/redisstore/internal/presence",
				"github.com/redis/go-redis/v9",
			},
			mayNot: []string{"database/sql"},
			why:    "an engine implements contracts of the domain with its own driver, and knows no other engine",
		},
		"hongbao/store/redisstore/internal/bus": {
			may:    []string{"hongbao/hub", "hongbao/redpacket/meter", "github.com/redis/go-redis/v9"},
			mayNot: []string{"database/sql"},
			why:    "the bus carries bytes of topics, and opens its own connections",
		},
		"hongbao/store/redisstore/internal/nodes": {
			may:    []string{"hongbao/chat", "hongbao/redpacket", "hongbao/store/finding", "github.com/redis/go-redis/v9"},
			mayNot: []string{"database/sql"},
			why:    "nodes are found, checked and called the same way whatever the scripts do; of the domain it knows how to report an outage and a clock",
		},
		"hongbao/store/redisstore/internal/pool": {
			may: []string{
				"hongbao/redpacket", "hongbao/redpacket/meter", "hongbao/redpacket/trace", "hongbao/store/redisstore/internal/nodes", "github.com/redis/go-redis/v9",
			},
			mayNot: []string{"database/sql"},
			why:    "grabs are decided without knowing rooms, sockets or the bus",
		},
		"hongbao/store/redisstore/internal/presence": {
			may:    []string{"hongbao/chat", "hongbao/store/redisstore/internal/nodes", "github.com/redis/go-redis/v9"},
			mayNot: []string{"database/sql"},
			why:    "it knows users and the ids of their sockets, and nothing of packets or the bus",
		},
		"hongbao/store/redisstore/internal/redistest": {
			may: []string{
				"hongbao/chat", "hongbao/redpacket", "hongbao/store/enginetest", "hongbao/store/loopback", "hongbao/store/storetest",
				"hongbao/store/redisstore/internal/nodes", "github.com/redis/go-redis/v9",
			},
			why: "tests of the other packages use it, so it imports none of them but nodes",
		},
		"hongbao/store/pgstore": {
			may: []string{"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/keylock", "hongbao/redpacket/meter", "hongbao/store/lineage", "hongbao/store/secret", "hongbao/redpacket/crashpoint", "hongbao/store/chain", "hongbao/store/tables", "hongbao/migrations", "github.com/jackc/pgx/v5", "hongbao/store/eventlog", "hongbao/store/pgstore/internal/batch", "hongbao/store/pgstore/internal/pg", "hongbao/store/pgstore/internal/epoch", "hongbao/store/pgstore/internal/schema", "hongbao/store/pgstore/internal/stream"},
			why: "an engine implements contracts of the domain with its own driver, and knows no other engine",
		},
		"hongbao/store/pgstore/internal/pg": {
			may: []string{"hongbao/chat", "hongbao/redpacket", "hongbao/store/secret", "hongbao/store/tables", "github.com/jackc/pgx/v5"},
			why: "connecting to Postgres, and reading from it, depends on no statement of the store",
		},
		"hongbao/store/pgstore/internal/schema": {
			may: []string{"hongbao/redpacket", "hongbao/migrations", "hongbao/store/audit", "hongbao/store/finding", "hongbao/store/tables", "hongbao/store/pgstore/internal/pg", "github.com/jackc/pgx/v5"},
			why: "what is about a database as a whole depends on no call of the store",
		},
		"hongbao/store/pgstore/internal/epoch": {
			may: []string{"hongbao/store/lineage", "hongbao/store/tables", "hongbao/store/pgstore/internal/pg", "github.com/jackc/pgx/v5"},
			why: "whether the database is the one that this instance knows depends on no call of the store",
		},
		"hongbao/store/pgstore/internal/stream": {
			may: []string{"hongbao/chat", "hongbao/redpacket", "hongbao/store/eventlog", "hongbao/store/tables", "hongbao/store/pgstore/internal/pg"},
			why: "it only reads",
		},
		"hongbao/store/pgstore/internal/batch": {
			may:    []string{"hongbao/chat", "hongbao/redpacket/meter", "hongbao/redpacket/trace", "hongbao/store/tables"},
			mayNot: []string{"github.com/jackc/pgx/v5", "database/sql"},
			why:    "how jobs share a transaction, and which of them wait, depends on no statement",
		},
		"hongbao/store/sqlitestore": {
			may: []string{"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/meter", "hongbao/store/lineage", "hongbao/store/secret", "hongbao/redpacket/crashpoint", "hongbao/store/audit", "hongbao/store/chain", "hongbao/store/eventlog", "hongbao/store/tables", "hongbao/migrations", "modernc.org/sqlite"},
			why: "an engine implements contracts of the domain with its own driver, and knows no other engine",
		},
		"hongbao/store/storetest": {
			may: []string{"hongbao/chat", "hongbao/chat/rules", "hongbao/chat/archive", "hongbao/chat/files", "hongbao/chat/words", "hongbao/redpacket", "hongbao/redpacket/proof", "hongbao/hub", "hongbao/store/eventlog", "hongbao/store/lineage", "hongbao/store/security", "hongbao/store/trail", "hongbao/store/chart", "hongbao/store/chain", "hongbao/store/secret", "hongbao/store/enginetest", "hongbao/store/loopback", "pgregory.net/rapid"},
			why: "contracts are tested without knowing which engine implements them",
		},
		"hongbao/web": {
			may: []string{
				"hongbao/chat", "hongbao/chat/files", "hongbao/redpacket", "hongbao/redpacket/keylock", "hongbao/hub", "hongbao/redpacket/meter", "hongbao/redpacket/trace",
				"hongbao/web/user/admission", "hongbao/web/user/api", "hongbao/web/user/auth", "hongbao/web/convert", "hongbao/web/user/guest", "hongbao/web/ops", "hongbao/web/ops/metrics", "hongbao/web/page", "hongbao/web/user/presence", "hongbao/web/user/push", "hongbao/web/user/session", "hongbao/web/spec", "hongbao/web/user/webpush", "hongbao/web/wire",
				"github.com/go-chi/chi/v5", "github.com/gorilla/websocket",
			},
			mayNot: []string{"database/sql"},
			why:    "it translates between wire and domain, and does not know which engines are behind the services",
		},
		"hongbao/web/user/admission": {why: "it counts, whatever is counted"},
		"hongbao/web/page": {
			may: []string{"hongbao/web/page/bundle"},
			why: "the page is files: what it says comes from the server over the protocol",
		},
		"hongbao/web/page/bundle": {why: "it makes files of texts, whatever page they make"},
		"hongbao/web/user/api": {
			may:    []string{"hongbao/chat", "hongbao/chat/rules", "hongbao/chat/files", "hongbao/redpacket", "hongbao/redpacket/proof", "hongbao/web/convert", "hongbao/web/wire", "hongbao/web/wire/strict"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "a command is answered the same way for HTTP and for sockets, so it knows neither",
		},
		"hongbao/web/user/auth": {
			may:    []string{"hongbao/chat", "github.com/golang-jwt/jwt/v5"},
			mayNot: []string{"database/sql", "hongbao/web/wire"},
			why:    "a token is verified the same way for HTTP and for sockets, and without any storage",
		},
		"hongbao/web/user/auth/authtest": {
			may:    []string{"github.com/golang-jwt/jwt/v5"},
			mayNot: []string{"database/sql"},
			why:    "keys and tokens for tests do not use the code under test",
		},
		"hongbao/web/client": {
			may:    []string{"hongbao/redpacket/proof", "hongbao/web/client/internal/feed", "hongbao/web/client/model", "hongbao/web/wire", "github.com/centrifugal/centrifuge-go"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "modules of other teams import it, so it needs no package of the server: only payloads and the arithmetic of the proof",
		},
		"hongbao/web/client/files": {
			may:    []string{"hongbao/redpacket/proof", "hongbao/web/client", "hongbao/web/wire"},
			mayNot: []string{"database/sql"},
			why:    "files and proofs go over HTTP, which a program without them does not link",
		},
		"hongbao/web/client/internal/feed": {
			may: []string{"hongbao/web/client/model"},
			why: "the order of events does not depend on how they come",
		},
		"hongbao/web/client/bot": {
			may:    []string{"hongbao/web/client", "hongbao/web/client/model"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "it is an example for programs outside, which have no more",
		},
		"hongbao/web/client/model": {
			may:    []string{"hongbao/web/wire"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "values and how they are read, and nothing that waits",
		},
		"hongbao/web/convert": {
			may:    []string{"hongbao/chat", "hongbao/chat/files", "hongbao/redpacket", "hongbao/redpacket/proof", "hongbao/web/wire"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "it turns values into values and calls nothing",
		},
		"hongbao/web/dial": {
			mayNot: []string{"database/sql"},
			why:    "addresses are judged the same way, whoever names them",
		},
		"hongbao/web/docs/examples/signed":     {why: "an example of a host is written from the documents: it uses nothing of the server"},
		"hongbao/web/docs/examples/wordfilter": {may: []string{"hongbao/web/docs/examples/signed"}, why: "an example of a host uses nothing of the server"},
		"hongbao/web/docs/examples/searchfeed": {why: "an example of a host uses nothing of the server"},
		"hongbao/web/docs/examples/wallet":     {may: []string{"hongbao/web/docs/examples/signed"}, why: "an example of a host uses nothing of the server"},
		"hongbao/web/host/console": {
			may:    []string{"hongbao/chat", "hongbao/web/host/hostapi", "hongbao/web/host/server", "hongbao/web/page", "hongbao/web/page/bundle", "hongbao/web/wire"},
			mayNot: []string{"database/sql"},
			why:    "it shows what the server API answers, and reads nothing by itself",
		},
		"hongbao/web/host/events": {
			may:    []string{"hongbao/chat", "hongbao/store/eventlog", "hongbao/web/convert", "hongbao/web/host/hostcall", "hongbao/web/host/server", "hongbao/web/wire", "hongbao/web/host/hostapi"},
			mayNot: []string{"database/sql"},
			why:    "it reads the stream through an interface, and does not know which database holds it",
		},
		"hongbao/web/user/guest": {
			may:    []string{"hongbao/chat", "hongbao/redpacket", "hongbao/web/user/auth", "hongbao/web/convert", "hongbao/web/wire"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "what guests may do does not depend on how their requests arrive",
		},
		"hongbao/web/host/hook": {
			may:    []string{"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/keylock", "hongbao/redpacket/meter", "hongbao/web/user/api", "hongbao/web/convert", "hongbao/web/host/hostcall", "hongbao/web/wire", "hongbao/web/host/hostapi"},
			mayNot: []string{"database/sql"},
			why:    "it carries questions and answers between commands and the host, and carries out none",
		},
		"hongbao/web/host/hostcall": {
			may:    []string{"hongbao/web/dial"},
			mayNot: []string{"database/sql"},
			why:    "a request to the host is signed the same way whatever it says",
		},
		"hongbao/web/ops": {
			may:    []string{"hongbao/web/user/auth", "github.com/prometheus/client_golang/prometheus", "github.com/prometheus/client_golang/prometheus/promhttp"},
			mayNot: []string{"database/sql"},
			why:    "it shows the operator what others measure and check",
		},
		"hongbao/web/ops/metrics": {
			may:    []string{"hongbao/chat", "hongbao/chat/files", "hongbao/redpacket", "hongbao/hub", "hongbao/redpacket/meter", "hongbao/web/wire", "github.com/prometheus/client_golang/prometheus"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "it reads figures that others keep, and calls no engine",
		},
		"hongbao/web/user/presence": {
			may:    []string{"hongbao/chat"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "it knows users and the ids of their sockets, not what a socket is",
		},
		"hongbao/web/user/push": {
			may:    []string{"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/trace", "hongbao/hub", "hongbao/web/convert", "hongbao/web/wire"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "it knows how events look as bytes, not which sessions receive them",
		},
		"hongbao/web/host/server": {
			may: []string{
				"hongbao/chat", "hongbao/chat/files", "hongbao/redpacket", "hongbao/web/user/auth", "hongbao/web/convert", "hongbao/web/spec", "hongbao/web/wire", "hongbao/web/host/hostapi", "hongbao/web/wire/strict",
				"github.com/go-chi/chi/v5",
			},
			mayNot: []string{"database/sql"},
			why:    "a host calls the same functions as a user; the server of the clients is given as an interface",
		},
		"hongbao/web/user/session": {
			may: []string{
				"hongbao/chat", "hongbao/redpacket", "hongbao/redpacket/trace", "hongbao/hub",
				"hongbao/web/user/api", "hongbao/web/user/auth", "hongbao/web/convert", "hongbao/web/user/push", "hongbao/web/wire", "hongbao/web/wire/frame",
				"github.com/centrifugal/protocol",
			},
			mayNot: []string{"database/sql", "net/http"},
			why:    "a session takes the server around it as a struct of what it needs, so that arrows point down",
		},
		"hongbao/web/spec": {
			mayNot: []string{"net/http"},
			why:    "it holds generated documents",
		},
		"hongbao/web/spec/generate": {
			may: []string{"hongbao/redpacket/proof", "hongbao/web/wire", "hongbao/web/host/hostapi", "hongbao/web/wire/strict"},
			why: "the documents describe the wire, whatever the server does behind it",
		},
		"hongbao/web/spec/spectest": {
			may: []string{"hongbao/web/spec"},
			why: "it compares JSON with the documents, whichever program made it",
		},
		"hongbao/web/user/webpush": {
			may:    []string{"hongbao/chat", "hongbao/web/dial", "github.com/SherClockHolmes/webpush-go", "golang.org/x/sync/errgroup"},
			mayNot: []string{"database/sql"},
			why:    "it knows entries and browsers' push services, and neither sockets nor what a packet is",
		},
		"hongbao/web/webtest": {
			may:    []string{"hongbao/store/enginetest", "github.com/chromedp/chromedp", "github.com/chromedp/cdproto"},
			mayNot: []string{"database/sql"},
			why:    "it drives a browser, and does not know whose pages it opens",
		},
		"hongbao/web/wire": {
			may:    []string{"hongbao/web/wire/internal/scan", "github.com/centrifugal/protocol"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "payloads are plain types that Go clients can use too",
		},
		"hongbao/web/wire/frame": {
			may:    []string{"hongbao/web/wire", "hongbao/web/wire/internal/scan", "github.com/centrifugal/protocol"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "only a server decodes commands, so clients do not link it",
		},
		"hongbao/web/host/hostapi": {
			may:    []string{"hongbao/redpacket/proof", "hongbao/web/wire"},
			mayNot: []string{"database/sql", "net/http"},
			why:    "payloads are plain types, from which the documents are generated",
		},
		"hongbao/web/wire/strict": {
			may: []string{"hongbao/web/wire/internal/scan"},
			why: "the rules of a field are the same whatever the request",
		},
		"hongbao/web/wire/internal/scan": {why: "JSON text, and nothing of what it means"},
		"hongbao/cmd/hongbao": {
			may: []string{
				"hongbao/chat", "hongbao/chat/archive", "hongbao/chat/archive/slack", "hongbao/chat/files", "hongbao/chat/rules", "hongbao/redpacket", "hongbao/redpacket/crashpoint", "hongbao/redpacket/lobby", "hongbao/redpacket/proof", "hongbao/hub", "hongbao/migrations", "hongbao/store/finding", "hongbao/store/lineage", "hongbao/store/secret", "hongbao/store/security", "hongbao/store/trail", "hongbao/store/chart", "hongbao/store", "hongbao/web", "hongbao/web/user/api", "hongbao/web/user/auth", "hongbao/web/convert", "hongbao/web/host/hook", "hongbao/web/ops", "hongbao/web/page", "hongbao/web/ops/metrics", "hongbao/web/user/push", "hongbao/web/ops/traces", "hongbao/web/user/webpush", "hongbao/web/wire", "hongbao/store/eventlog", "hongbao/web/host/console", "hongbao/web/host/events", "hongbao/web/host/server", "hongbao/web/host/hostapi",
				"golang.org/x/crypto/acme", "golang.org/x/crypto/acme/autocert", "golang.org/x/sync/errgroup",
			},
			mayNot: []string{"database/sql"},
			why:    "the program wires the parts; only store knows which engines there are",
		},
		"hongbao/cmd/hongbao/e2e": {
			may: []string{
				"hongbao/store/loopback", "hongbao/store/storetest", "hongbao/web/wire",
				"github.com/centrifugal/centrifuge-go", "github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9",
				"go.opentelemetry.io/proto/otlp/trace/v1", "google.golang.org/protobuf/proto",
			},
			mayNot: []string{"database/sql"},
			why:    "end-to-end tests use the program from outside, as its users do",
		},
		"hongbao/cmd/hongbao-cluster": {
			may: []string{"hongbao/store/loopback"},
			why: "it runs the built program, and sees no more of it than its users",
		},
		"hongbao/cmd/hongbao-mutants": {why: "it changes text and starts go test, and knows no package that it changes"},
		"hongbao/cmd/hongbao-bench": {
			may: []string{
				"hongbao/cmd/hongbao-bench/fill", "hongbao/cmd/hongbao-bench/flaws", "hongbao/cmd/hongbao-bench/growth", "hongbao/cmd/hongbao-bench/load", "hongbao/cmd/hongbao-bench/measure", "hongbao/cmd/hongbao-bench/report", "hongbao/cmd/hongbao-bench/schemes",
				"hongbao/chat", "hongbao/chat/words", "hongbao/redpacket",
				"hongbao/store/eventlog", "hongbao/store/loopback", "hongbao/store/pgstore", "hongbao/store/redisstore",
				"github.com/HdrHistogram/hdrhistogram-go", "github.com/gorilla/websocket", "github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9",
			},
			mayNot: []string{"database/sql"},
			why:    "it alone knows all that is measured",
		},
		"hongbao/cmd/hongbao-bench/fill": {
			may: []string{
				"hongbao/chat", "hongbao/chat/words", "hongbao/redpacket", "hongbao/redpacket/proof", "hongbao/migrations",
				"hongbao/store", "hongbao/store/chain", "hongbao/store/pgstore", "hongbao/store/secret", "hongbao/store/sqlitestore", "github.com/jackc/pgx/v5",
			},
			why: "it writes rows as a store would have, by the fastest way of each engine",
		},
		"hongbao/cmd/hongbao-bench/flaws": {
			may: []string{"hongbao/cmd/hongbao-bench/schemes", "github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9"},
			why: "it runs the same steps with every scheme, and does not know which one is ours",
		},
		"hongbao/cmd/hongbao-bench/growth": {
			may: []string{"hongbao/cmd/hongbao-bench/fill", "github.com/jackc/pgx/v5"},
			why: "it knows the server API, as any host does, and what fill has made",
		},
		"hongbao/cmd/hongbao-bench/load": {
			may: []string{
				"hongbao/web/user/auth", "hongbao/web/wire",
				"github.com/HdrHistogram/hdrhistogram-go", "github.com/gorilla/websocket", "golang.org/x/sync/errgroup",
			},
			why: "it knows the wire, as any client does, and nothing of the server",
		},
		"hongbao/cmd/hongbao/e2e/host/testdata": {why: "a host knows the documents of the server API alone"},
		"hongbao/cmd/hongbao-bench/measure":     {why: "rounds and medians do not depend on what is measured"},
		"hongbao/cmd/hongbao-bench/report":      {why: "a report page shows names and numbers, and does not know how they were measured"},
		"hongbao/cmd/hongbao-bench/schemes": {
			may: []string{"github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9"},
			why: "schemes that others published contain no code of ours",
		},
	}
}

func TestImportDirections(t *testing.T) {
	known := importRules()
	seen := map[string]bool{}
	used := map[string][]string{}
	for _, f := range productionFiles(t) {
		seen[f.pkg] = true
		r, ok := known[f.pkg]
		if !ok {
			t.Errorf("package %s is not in the table of rules: add what it may import, and why", f.pkg)
			continue
		}
		for _, imported := range f.imports {
			used[f.pkg] = append(used[f.pkg], imported)
			if reason := r.refuses(f.pkg, imported); reason != "" {
				t.Errorf("%s imports %s, which %s must not: %s", f.name, imported, f.pkg, reason)
			}
		}
	}
	for pkg, r := range known {
		if !seen[pkg] {
			t.Errorf("package %s is in the table of rules, but has no files", pkg)
		}
		for _, m := range r.may {
			if !slices.ContainsFunc(used[pkg], func(imported string) bool { return within(imported, m) }) {
				t.Errorf("package %s may import %s, but does not: remove it from the table of rules", pkg, m)
			}
		}
	}
}

// mayImportTesting are the packages of test helpers.
var mayImportTesting = []string{"hongbao/cmd/hongbao/e2e", "hongbao/store/enginetest", "hongbao/store/redisstore/internal/redistest", "hongbao/store/storetest", "hongbao/web/user/auth/authtest", "hongbao/web/spec/spectest", "hongbao/web/webtest"}

// refuses returns the reason why the import is wrong, or nothing.
func (r rule) refuses(pkg, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	standard := !strings.Contains(first, ".") && !strings.HasPrefix(imported, ourModule+"/")
	switch {
	case imported == "testing" && !slices.Contains(mayImportTesting, pkg):
		return "the program contains no tests"
	case slices.Contains(r.mayNot, imported):
		return r.why
	case standard, slices.ContainsFunc(r.may, func(m string) bool { return within(imported, m) }):
		return ""
	}
	return r.why
}

// within reports whether the import is the allowed one, or a part of an allowed module. Our own packages are allowed one by one.
func within(imported, allowed string) bool {
	return imported == allowed || !strings.HasPrefix(allowed, ourModule+"/") && strings.HasPrefix(imported, allowed+"/")
}

func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	comments := map[string]int{}
	for _, f := range productionFiles(t) {
		comments[f.pkg] += f.comment
	}
	for pkg, n := range comments {
		if n < 80 {
			t.Errorf("the package comment of %s has %d characters, want at least 80: say what the package owns and what must always hold", pkg, n)
		}
	}
}

// sourceFile is a Go file that is built into the program.
type sourceFile struct {
	name, pkg string
	imports   []string
	comment   int // length of its package comment
}

func productionFiles(t *testing.T) []sourceFile {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []sourceFile
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		files = append(files, newSourceFile(name, path.Join(ourModule, filepath.ToSlash(rel)), f))
		return nil
	})
	noError(t, err)
	if len(files) < 20 {
		t.Fatalf("found %d files under %s, want at least 20", len(files), root)
	}
	return files
}

func newSourceFile(name, pkg string, f *ast.File) sourceFile {
	s := sourceFile{name: name, pkg: pkg, comment: len(f.Doc.Text())}
	for _, i := range f.Imports {
		if imported, err := strconv.Unquote(i.Path.Value); err == nil {
			s.imports = append(s.imports, imported)
		}
	}
	return s
}
