package web

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// TestConnectWithFiveHundredRooms connects a user that is in as many rooms as may be. A client that asks for 20 rooms must get a short
// reply: 20 rooms, the subscriptions to all, and a cursor for the rest. A client that asks for nothing gets all rooms, as ever.
func TestConnectWithFiveHundredRooms(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	ann := s.signIn(t, "ann", 0)
	const rooms = 500
	var creating sync.WaitGroup
	for i := range 50 { // at once, so that they share commits
		creating.Go(func() {
			for j := range rooms / 50 {
				request := fmt.Sprintf(`{"key":"%d-%d","kind":"private","name":"the room no. %[1]d-%d of this test"}`, i, j)
				if _, err := s.Call(context.WithoutCancel(t.Context()), ann, "create_room", []byte(request)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	creating.Wait()

	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		connect := func(data string) (wire.ConnectData, int) {
			t.Helper()
			c := dial(t, addr, e)
			c.send(`{"id":1,"connect":{"token":"` + goodToken(t, "ann") + `"` + data + `}}`)
			r := c.next()
			if r.Connect == nil || len(r.Connect.Subs) != rooms {
				t.Fatalf("connect %s: %v, want %d subscriptions", data, r.Error, rooms)
			}
			var got wire.ConnectData
			noError(t, json.Unmarshal(r.Connect.Data, &got))
			reply, err := wire.ConnectReply(e, 1, r.Connect)
			noError(t, err)
			return got, len(reply)
		}
		for _, data := range []string{"", `,"data":{}`, `,"data":{"rooms":0}`, `,"data":{"rooms":-1}`, `,"data":{"rooms":"all"}`, `,"data":[1]`} {
			if got, _ := connect(data); len(got.Rooms) != rooms || got.RoomsNext != "" {
				t.Errorf("connect%s: %d rooms and the cursor %q, want all and none", data, len(got.Rooms), got.RoomsNext)
			}
		}
		if got, _ := connect(`,"data":{"rooms":1000}`); len(got.Rooms) != wire.MaxAskedRooms {
			t.Errorf("asked for 1000 rooms: %d, want %d", len(got.Rooms), wire.MaxAskedRooms)
		}
		got, size := connect(`,"data":{"rooms":20,"color":"red"}`)
		if len(got.Rooms) != 20 || got.RoomsNext == "" || size >= 70_000 {
			t.Errorf("asked for 20 rooms: %d with the cursor %q in %d bytes, want 20, a cursor, and less than 70,000 bytes", len(got.Rooms), got.RoomsNext, size)
		}
		t.Logf("%s: %d bytes", t.Name(), size)

		c, _ := connected(t, addr, e, "ann")
		listed := ids(got.Rooms)
		for next, id := got.RoomsNext, uint32(2); next != ""; id++ {
			page := rpc[wire.RoomsReply](c, id, "rooms", wire.RoomsRequest{Next: next, Limit: 100})
			if len(page.Rooms) == 0 {
				t.Fatal("an empty page")
			}
			listed, next = append(listed, ids(page.Rooms)...), page.Next
		}
		all, _ := connect("")
		want := ids(all.Rooms)
		slices.Sort(want)
		slices.Reverse(want) // those created last first
		if !slices.Equal(listed, want) {
			t.Errorf("20 rooms and the pages after them list %d rooms, want all %d, those created last first", len(listed), rooms)
		}

		sdk, err := client.New("ws://"+addr+"/v1/socket", client.Options{Token: goodToken(t, "ann"), Protobuf: e == wire.Protobuf})
		noError(t, err)
		defer func() { _ = sdk.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		event, err := sdk.Next(ctx)
		first, ok := event.(model.Connected)
		if err != nil || !ok || len(first.Rooms) != rooms || len(sdk.Rooms()) != rooms {
			t.Fatalf("the Go SDK begins with %T of %d rooms, %v, want all %d", event, len(first.Rooms), err, rooms)
		}
		for _, r := range first.Rooms {
			if r.Name == "" || r.Role != "owner" {
				t.Fatalf("the Go SDK knows a room as %+v", r)
			}
		}
	})
}

func ids(rooms []wire.MyRoom) (all []string) {
	for _, r := range rooms {
		all = append(all, r.ID)
	}
	return all
}
