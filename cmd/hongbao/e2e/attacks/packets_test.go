package attacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// ask sends a command that must succeed, and returns the reply.
func ask[Reply any](t *testing.T, s *e2e.Server, token, method string, request any) (reply Reply) {
	t.Helper()
	e2e.NoError(t, json.Unmarshal(mustAnswer(t, s, http.StatusOK, token, "commands/"+method, request), &reply))
	return reply
}

// attempt sends a command. It returns the reply, or the code of the error.
func attempt[Reply any](s *e2e.Server, token, method string, request any) (reply Reply, code wire.Code, err error) {
	status, answer, err := s.Post(token, "commands/"+method, request)
	if err != nil {
		return reply, 0, err
	}
	if status != http.StatusOK {
		var refused wire.ErrorBody
		err = json.Unmarshal(answer, &refused)
		return reply, refused.Error.Code, err
	}
	return reply, 0, json.Unmarshal(answer, &reply)
}

// TestRobotsThatJoinForAPacketTakeNothing has robots wait outside a room until a member's socket gets a packet. They join at
// once, by another server than the members, and grab before anyone else. Of a packet for earlier members they must get nothing. Of
// a packet for all members each gets a share.
func TestRobotsThatJoinForAPacketTakeNothing(t *testing.T) {
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), storetest.Database(t), nil, nil)
	robotsAtAPacket(t, cluster.Servers[0], cluster.Servers[1])
	alone := start(t)
	robotsAtAPacket(t, alone, alone)
}

func robotsAtAPacket(t *testing.T, near, far *e2e.Server) {
	t.Helper()
	const members, robots, shares = 12, 10, 20
	owner, scout := near.Guest("owner"), near.Guest("scout")
	room := ask[wire.CreateRoomReply](t, near, owner.Token, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	join := func(s *e2e.Server, user wire.GuestReply) {
		ask[wire.JoinReply](t, s, user.Token, "join", wire.JoinRequest{Room: room})
	}
	var honest, attackers []wire.GuestReply
	for i := range members {
		honest = append(honest, near.Guest(fmt.Sprint("member ", i)))
		join(near, honest[i])
	}
	for i := range robots {
		attackers = append(attackers, far.Guest(fmt.Sprint("robot ", i)))
		if i%2 == 0 { // has been a member
			join(far, attackers[i])
		}
	}
	join(near, scout)
	listener := e2e.Connect(t, near, scout, false)
	for _, earlier := range []bool{true, false} {
		for _, robot := range attackers {
			_, _, _ = attempt[wire.LeaveReply](far, robot.Token, "leave", wire.LeaveRequest{Room: room})
		}
		sent := ask[wire.SendPacketReply](t, near, owner.Token, "send_packet", wire.SendPacketRequest{
			Room: room, Key: fmt.Sprint("earlier-", earlier), Total: 1000, Count: new(shares), EarlierMembers: earlier,
		})
		listener.Await(room, "the packet", func(e wire.Entry) bool { return e.Seq == sent.Seq })
		var won [robots]bool
		var all sync.WaitGroup
		for i, robot := range attackers {
			all.Go(func() {
				if _, code, err := attempt[wire.JoinReply](far, robot.Token, "join", wire.JoinRequest{Room: room}); err != nil || code != 0 {
					t.Errorf("%s joins: %d %s, %v", robot.User.Name, code, code.Word(), err)
				}
				for range 10 {
					grab, code, err := attempt[wire.GrabReply](far, robot.Token, "grab", wire.GrabRequest{Packet: sent.Packet.ID})
					won[i] = won[i] || grab.Outcome == "won"
					if err != nil || earlier && code != wire.CodeJoinedLater {
						t.Errorf("%s grabs: %q, %d %s, %v", robot.User.Name, grab.Outcome, code, code.Word(), err)
					}
				}
			})
		}
		all.Wait()
		taken := 0
		for _, yes := range won {
			if yes {
				taken++
			}
		}
		if earlier && taken != 0 || !earlier && taken != robots {
			t.Errorf("for earlier members: %t: %d of %d robots won a share", earlier, taken, robots)
		}
		for _, user := range honest[:min(members, shares-taken)] {
			if grab := ask[wire.GrabReply](t, near, user.Token, "grab", wire.GrabRequest{Packet: sent.Packet.ID}); grab.Outcome != "won" {
				t.Errorf("for earlier members: %t: %s gets %q", earlier, user.User.Name, grab.Outcome)
			}
		}
	}
}

// TestOpenPacketsOfAUserAreBounded has an attacker send packets of 10,000 shares from eight connections at once, with money for
// all of them. The server must stop them at 50 open packets, while another user sends.
func TestOpenPacketsOfAUserAreBounded(t *testing.T) {
	const limit, workers = 50, 8
	s := start(t, "HONGBAO_MAX_OPEN_PACKETS=", "HONGBAO_GUEST_CREDIT=10000000") // empty: the default
	attacker, other := s.Guest("attacker"), s.Guest("other")
	room := ask[wire.CreateRoomReply](t, s, attacker.Token, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	ask[wire.JoinReply](t, s, other.Token, "join", wire.JoinRequest{Room: room})
	packet := func(key string) wire.SendPacketRequest {
		return wire.SendPacketRequest{Room: room, Key: key, Total: 10_000, Count: new(10_000)}
	}
	var mu sync.Mutex
	var sent []string // ids of packets
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for i := range limit {
				reply, code, err := attempt[wire.SendPacketReply](s, attacker.Token, "send_packet", packet(fmt.Sprint(worker, "-", i)))
				switch {
				case err != nil:
					t.Error(err)
				case code == 0:
					mu.Lock()
					sent = append(sent, reply.Packet.ID)
					mu.Unlock()
				case code != wire.CodeLimitExceeded:
					t.Errorf("a packet is refused with %d %s, want %s", code, code.Word(), wire.CodeLimitExceeded.Word())
				}
			}
		})
	}
	all.Wait()
	if len(sent) != limit {
		t.Fatalf("%d packets of one user are open, want %d", len(sent), limit)
	}
	ask[wire.SendPacketReply](t, s, other.Token, "send_packet", packet("other"))
	ask[wire.CancelPacketReply](t, s, attacker.Token, "cancel_packet", wire.CancelPacketRequest{Packet: sent[0]})
	ask[wire.SendPacketReply](t, s, attacker.Token, "send_packet", packet("after-a-cancel"))
	mustAnswer(t, s, wire.CodeLimitExceeded.Status(), attacker.Token, "commands/send_packet", packet("one-more"))
}
