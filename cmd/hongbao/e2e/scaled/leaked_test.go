package scaled

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/user/auth"
	"hongbao/web/user/auth/authtest"
	"hongbao/web/wire"
)

// TestLeakedKeys replaces the key of the bus and that of guests, as web/docs/runbooks.md says. Old tokens are refused, and the instances
// hear each other.
func TestLeakedKeys(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	database := storetest.Database(t)
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), database, nil, nil)
	old := cluster.Front().Guest("old")
	if status, answer, err := cluster.Servers[0].Post(old.Token, "commands/contacts", struct{}{}); status != http.StatusOK {
		t.Fatalf("contacts before: %d %s, %v", status, answer, err)
	}
	for _, s := range cluster.Servers {
		s.Stop()
	}
	e2e.RunSQL(t, database, "delete from settings where name = 'bus_key'")
	for n, s := range cluster.Servers {
		cluster.Servers[n] = s.RestartAs(e2e.Build(t, ""), "HONGBAO_GUEST_KEY="+"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff")
		cluster.Servers[n].AwaitLog("bus is up", 1)
	}
	if status, answer, err := cluster.Servers[0].Post(old.Token, "commands/contacts", struct{}{}); status != http.StatusUnauthorized {
		t.Errorf("contacts with a token of the old key: %d %s, %v, want 401", status, answer, err)
	}
	speaker := e2e.Connect(t, cluster.Servers[0], cluster.Servers[0].Guest("speaker"), false)
	listener := e2e.Connect(t, cluster.Servers[1], cluster.Servers[1].Guest("listener"), false)
	room := e2e.Call[wire.CreateRoomReply](speaker, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	e2e.Call[wire.JoinReply](listener, "join", wire.JoinRequest{Room: room})
	e2e.Call[wire.SendReply](speaker, "send", wire.SendRequest{Room: room, Key: "text", Text: "text"})
	listener.Await(room, "the text", func(e wire.Entry) bool { return e.Key == "text" })
	for _, s := range cluster.Servers {
		if n := s.Metric("hongbao_bus_forged_total"); n != 0 {
			t.Errorf("%s: hongbao_bus_forged_total is %v, want 0", s.URL, n)
		}
	}
}

// TestLeakedSecrets replaces the secret of the host's tokens, the operator's token and the password of Redis, as web/docs/runbooks.md
// says, and empties Redis. The old secrets open nothing any more, and a packet of before is still grabbed.
func TestLeakedSecrets(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	const oldSecret, newSecret = "k3Vq8Zt1Wm6Yb4Nc9Xr2Ls7Pd5Hf0GjA", "u7Ry2Ei9Qo4Ta6Sw1Dz8Fx3Gc5Hv0BnM"
	const oldToken, newToken = "p6Lk1Jh8Gf3Ds0Aq5We2Rt9Yu4Io7PzX", "c8Vb3Nm1Qa6Ws9Ed2Rf5Tg0Yh7Uj4IkO"
	const oldPassword, newPassword = "CHANGE-ME", "changed" // the old one is that of web/docs/deploy/redis.acl
	redis, binary := storetest.Redis(t), e2e.Build(t, "")
	old := []string{"HONGBAO_JWT_SECRET=" + oldSecret, "HONGBAO_OPS_TOKEN=" + oldToken}
	cluster := e2e.StartCluster(t, binary, redis, storetest.Database(t), old, old)
	sign := func(secret string) string {
		claims := jwt.MapClaims{"sub": "host-user", "scope": auth.DefaultAdminScope, "exp": time.Now().Add(time.Hour).Unix()}
		return authtest.Sign(t, jwt.SigningMethodHS256, []byte(secret), claims)
	}
	contacts := func(n int, token string) int {
		status, _, err := cluster.Servers[n].Post(token, "commands/contacts", struct{}{})
		e2e.NoError(t, err)
		return status
	}
	guest := cluster.Servers[0].Guest("sender")
	credit := wire.AdjustRequest{User: guest.User.ID, Amount: 200, Key: "credit"}
	if status, answer, err := cluster.Servers[0].Post(sign(oldSecret), "admin/credit", credit); status != http.StatusOK {
		t.Fatalf("credit: %d %s, %v", status, answer, err)
	}
	sender := e2e.Connect(t, cluster.Servers[0], guest, false)
	room := e2e.Call[wire.CreateRoomReply](sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	packet := e2e.Call[wire.SendPacketReply](sender, "send_packet", wire.SendPacketRequest{
		Room: room, Key: "packet", Mode: "equal", Total: 200, Count: new(2),
	}).Packet.ID
	if status := contacts(1, sign(oldSecret)); status != http.StatusOK {
		t.Fatalf("contacts with a token of the host: %d, want 200", status)
	}

	admin := e2e.RedisClient(t, redis)
	e2e.NoError(t, admin.Do(t.Context(), "acl", "setuser", "hongbao", "resetpass", ">"+newPassword).Err())
	redisURL := strings.Replace(e2e.RedisURL(redis.Addr()), oldPassword, newPassword, 1)
	for n, s := range cluster.Servers {
		s.Stop()
		cluster.Servers[n] = s.RestartAs(binary, "HONGBAO_JWT_SECRET="+newSecret, "HONGBAO_OPS_TOKEN="+newToken, "HONGBAO_REDIS_URL="+redisURL)
	}
	e2e.NoError(t, admin.FlushAll(t.Context()).Err())
	if err := admin.Do(t.Context(), "auth", "hongbao", oldPassword).Err(); err == nil {
		t.Error("Redis takes the old password")
	}
	for n := range cluster.Servers {
		if old, now := contacts(n, sign(oldSecret)), contacts(n, sign(newSecret)); old != http.StatusUnauthorized || now != http.StatusOK {
			t.Errorf("contacts with a token of the old secret %d, of the new one %d, want 401 and 200", old, now)
		}
		if old, now := cluster.Servers[n].OpsStatus("metrics", oldToken), cluster.Servers[n].OpsStatus("metrics", newToken); old != http.StatusUnauthorized || now != http.StatusOK {
			t.Errorf("/metrics with the old token %d, with the new one %d, want 401 and 200", old, now)
		}
	}
	e2e.Eventually(t, 20*time.Second, "the sender grabs a share after Redis was emptied", func() bool {
		reply, err := e2e.Try[wire.GrabReply](t.Context(), sender, "grab", wire.GrabRequest{Packet: packet})
		return err == nil && (reply.Outcome == "won" || reply.Outcome == "already")
	})
	cluster.Front().MustBalance()
}

// TestLeakedDatabasePassword replaces the password of the role that the instances use, in a Postgres that asks it for one. The old password opens
// nothing any more, and a packet of before is still grabbed.
func TestLeakedDatabasePassword(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	postgres, binary := storetest.Postgres(t), e2e.Build(t, "")
	database, err := postgres.NewDatabase(t.Context())
	e2e.NoError(t, err)
	cluster := e2e.StartCluster(t, binary, storetest.Redis(t), database, nil, nil)
	sender := e2e.Connect(t, cluster.Servers[0], cluster.Servers[0].Guest("sender"), false)
	room := e2e.Call[wire.CreateRoomReply](sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	packet := e2e.Call[wire.SendPacketReply](sender, "send_packet", wire.SendPacketRequest{Room: room, Key: "packet", Mode: "equal", Total: 200, Count: new(2)}).Packet.ID

	withPassword := func(password string) string {
		u, err := url.Parse(database)
		e2e.NoError(t, err)
		u.User = url.UserPassword("hongbao", password)
		return u.String()
	}
	setPassword := func(password string) { e2e.RunSQL(t, database, "alter role hongbao password '"+password+"'") }
	restart := func(password string) {
		for n, s := range cluster.Servers {
			s.Stop()
			cluster.Servers[n] = s.RestartAs(binary, "HONGBAO_DATABASE_URL="+withPassword(password))
		}
	}
	askForPassword(t, database, "hongbao")
	setPassword("leaked")
	restart("leaked")
	if err := canConnect(t, withPassword("")); err == nil {
		t.Fatal("Postgres takes the role without a password")
	}

	setPassword("changed")
	restart("changed")
	if err := canConnect(t, withPassword("leaked")); err == nil {
		t.Error("Postgres takes the old password")
	}
	for _, s := range cluster.Servers {
		e2e.Eventually(t, 20*time.Second, s.URL.Host+" is ready", func() bool { status, _ := s.Ready(); return status == http.StatusOK })
	}
	// A client that was cut off twice may wait 20 s before it reconnects; the SDK has no setting for that.
	e2e.Eventually(t, 45*time.Second, "the sender grabs a share", func() bool {
		reply, err := e2e.Try[wire.GrabReply](t.Context(), sender, "grab", wire.GrabRequest{Packet: packet})
		return err == nil && (reply.Outcome == "won" || reply.Outcome == "already")
	})
	cluster.Front().MustBalance()
}

// askForPassword makes Postgres ask a role for its password. It trusts the others.
func askForPassword(t *testing.T, database, role string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	e2e.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	var file string
	e2e.NoError(t, conn.QueryRow(t.Context(), "show hba_file").Scan(&file))
	rules, err := os.ReadFile(file)
	e2e.NoError(t, err)
	e2e.NoError(t, os.WriteFile(file, append([]byte("host all "+role+" all scram-sha-256\n"), rules...), 0o600))
	e2e.RunSQL(t, database, "select pg_reload_conf()")
}

func canConnect(t *testing.T, database string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err == nil {
		_ = conn.Close(t.Context())
	}
	return err
}
