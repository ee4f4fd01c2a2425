package redisstore

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts by SHA-1
	_ "embed"
	"encoding/hex"
)

//go:embed pool_grab.lua
var grabLua string

//go:embed pool_load.lua
var loadLua string

//go:embed pool_close.lua
var closeLua string

//go:embed pool_ack.lua
var ackLua string

//go:embed pool_due.lua
var dueLua string

//go:embed pool_unsettled.lua
var unsettledLua string

//go:embed pool_recount.lua
var recountLua string

// script is a Lua script and its SHA-1, which is its name in Redis.
type script struct{ text, sha string }

func newScript(text string) *script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
	return &script{text: text, sha: hex.EncodeToString(sum[:])}
}

// poolScripts are the Pool's scripts.
type poolScripts struct{ grab, load, close, ack, due, unsettled, recount *script }

func newPoolScripts() poolScripts {
	return poolScripts{
		grab: newScript(grabLua), load: newScript(loadLua), close: newScript(closeLua),
		ack: newScript(ackLua), due: newScript(dueLua), unsettled: newScript(unsettledLua), recount: newScript(recountLua),
	}
}
