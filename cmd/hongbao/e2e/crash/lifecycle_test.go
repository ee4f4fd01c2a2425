package crash

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/enginetest"
	"hongbao/web/wire"
)

// TestLifecycleCrashPoints lets the program kill itself at each step of an erasure and of the retention, three times each. In the end no text is left, and the
// audit finds nothing.
func TestLifecycleCrashPoints(t *testing.T) {
	enginetest.Nightly(t, "crash")
	t.Parallel()
	binary := e2e.Build(t, "crashpoints")
	for _, point := range crashpoint.LifecyclePoints {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			removalCrashAt(t, binary, point)
		})
	}
}

func removalCrashAt(t *testing.T, binary, point string) {
	dir := t.TempDir()
	clock := filepath.Join(dir, "clock")
	shift := func(by string) { e2e.NoError(t, os.WriteFile(clock, []byte(by), 0o600)) }
	shift("0s")
	key, variables := e2e.APIKey(t, binary, e2e.FreeAddress(t))
	api := strings.TrimPrefix(variables[1], "HONGBAO_API_ADDR=")
	variables = append(variables, "HONGBAO_CLOCK_FILE="+clock, "HONGBAO_TEXTS_KEEP=1", "HONGBAO_LIMITS=off")
	crashing := append(slices.Clone(variables), "HONGBAO_CRASH_AT="+point)
	server := e2e.Start(t, binary, filepath.Join(dir, "data"), e2e.FreeAddress(t), variables...)
	writer := server.Guest("writer")
	var room wire.CreateRoomReply
	post(t, server, writer.Token, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}, &room)
	for i := range 240 { // more than three steps
		post(t, server, writer.Token, "send", wire.SendRequest{Room: room.Room.ID, Key: fmt.Sprint(i), Text: "quince"}, &wire.SendReply{})
	}
	left := texts(t, server, "quince")
	if left() != 240 {
		t.Fatalf("%d texts are stored", left())
	}
	if strings.HasPrefix(point, "erase.") {
		request, err := http.NewRequest(http.MethodPost, "http://"+api+"/v1/server/users/"+writer.User.ID+"/erase?reason=asked", strings.NewReader(`{"texts":"erase"}`))
		e2e.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+key)
		server.Kill()
		server = server.RestartWith(crashing...)
		if answer, err := http.DefaultClient.Do(request); err == nil { // the answer may be lost
			_ = answer.Body.Close()
		}
	} else {
		server.Kill()
		shift("49h")
		server = server.RestartWith(crashing...)
	}
	for range 2 {
		mustHaveDied(t, server, point)
		server = server.RestartWith(crashing...)
	}
	mustHaveDied(t, server, point)
	if n := left(); n == 0 {
		t.Errorf("no text is left after three steps at most")
	}
	server = server.RestartWith(variables...)
	e2e.Eventually(t, time.Minute, "the removal of all texts", func() bool { return left() == 0 })
	server.MustBalance()
}

// texts returns a function that counts the entries with the word.
func texts(t *testing.T, s *e2e.Server, word string) func() int {
	t.Helper()
	count := countIn(t, s)
	return func() int { return count(`entries where body like '%` + word + `%'`) }
}
