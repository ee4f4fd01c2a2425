package bus

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/hub"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// TestForgedMessagesAreDropped publishes in Redis without the key: messages of an unknown instance, and messages that
// were heard on a channel and then changed or moved. Nothing of it may reach the receiver.
func TestForgedMessagesAreDropped(t *testing.T) {
	t.Parallel()
	server := storetest.Redis(t)
	near, far := storetest.RunBus(t, patientBus(t, server.URL())), storetest.RunBus(t, patientBus(t, server.URL()))
	far.Listen(near, "room", "other")
	attacker := redistest.Dial(t, server.URL()).(*redis.Client)
	heard := attacker.PSubscribe(t.Context(), "*")
	defer heard.Close()
	if _, err := heard.Receive(t.Context()); err != nil { // the confirmation
		t.Fatal(err)
	}
	near.Forget()
	far.Forget()
	near.Say("room", "true")
	var channel, heartbeats, message, heartbeat string
	for message == "" || heartbeat == "" {
		m, err := heard.ReceiveMessage(t.Context())
		noError(t, err)
		if strings.HasSuffix(m.Channel, ":room") {
			channel, message = m.Channel, m.Payload
		} else {
			heartbeats, heartbeat = m.Channel, m.Payload
		}
	}
	header := strings.TrimSuffix(message, "true")
	later := binary.BigEndian.AppendUint64([]byte(message[:8]), 1<<60) // the publisher's id and a number that is new
	stranger := "stranger" + string(later[8:])
	forgeries := map[string]string{
		"of an unknown instance":           stranger + "Official Support",
		"of an unknown one, with a header": stranger + header[16:] + "Official Support",
		"with another text":                string(later) + header[16:] + "Official Support",
		"with another number":              string(later) + header[16:] + "true",
		"too short":                        "s",
	}
	sent := 0
	publish := func(channel, message string) {
		t.Helper()
		sent++
		noError(t, attacker.Publish(t.Context(), channel, message).Err())
	}
	for _, forged := range forgeries {
		publish(channel, forged)
	}
	publish(strings.TrimSuffix(channel, "room")+"other", message)
	publish(heartbeats, stranger+header[16:]+heartbeatLost)
	publish(heartbeats, stranger+heartbeatLost)
	publish(heartbeats, string(later)+heartbeat[16:headerLen]+heartbeatLost)
	near.Say("room", "end")
	far.Until("the last message", func() bool { return len(far.Received) > 0 && far.Received[len(far.Received)-1].Payload == "end" })
	far.Until("only true messages", func() bool {
		for i, want := range []string{"true", "end"} {
			if len(far.Received) != 2 || far.Received[i] != (storetest.BusDelivery{Topic: "room", Payload: want}) {
				t.Fatalf("received %q", far.Received)
			}
		}
		return true
	})
	far.Until("all forgeries are reported, and no loss", func() bool { return far.Forgeries == sent && far.Suspects == 0 })
}

// TestOldMessagesAreDropped repeats messages that an unknown instance has sent in the past. An instance that runs for long may take
// those of the last ten minutes, one that has just started those since a minute before its start. Neither may take a heartbeat that
// is older.
func TestOldMessagesAreDropped(t *testing.T) {
	t.Parallel()
	server := storetest.Redis(t)
	attacker := redistest.Dial(t, server.URL()).(*redis.Client)
	for name, test := range map[string]struct {
		running     time.Duration
		taken, drop time.Duration // ages
	}{
		"an instance that runs for an hour": {time.Hour, 9 * time.Minute, 11 * time.Minute},
		"one that has just started":         {0, 30 * time.Second, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			b := patientBus(t, server.URL())
			shard := b.shards[0]
			shard.began = shard.began.Add(-test.running)
			near, far := storetest.RunBus(t, patientBus(t, server.URL())), storetest.RunBus(t, b)
			far.Listen(near, "room")
			far.Forget()
			publisher := uint64(len(name)) << 32
			repeat := func(channel, payload string, age time.Duration) {
				t.Helper()
				publisher++
				m := newMessage("", []byte(payload), hub.Kept)
				m.setNumber(publisher, uint64(time.Now().Add(-age).UnixMicro()))
				newTagger(testKey).write(channel, m)
				noError(t, attacker.Publish(t.Context(), channel, m.bytes).Err())
			}
			for range 3 {
				repeat(shard.channel("room"), "too old", test.drop)
			}
			far.Until("one report that messages may be lost", func() bool { return far.Suspects == 1 })
			repeat(shard.heartbeat, heartbeatLost, test.drop)
			repeat(shard.channel("room"), "taken", test.taken)
			far.Until("the newer message alone", func() bool {
				if len(far.Received) > 1 || len(far.Received) == 1 && far.Received[0].Payload != "taken" {
					t.Fatalf("received %q", far.Received)
				}
				return len(far.Received) == 1
			})
			far.Until("one report and no forgery", func() bool { return far.Suspects == 1 && far.Forgeries == 0 })
		})
	}
}
