package web

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	centrifuge "github.com/centrifugal/centrifuge-go"
	"github.com/chromedp/chromedp"

	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore"
	"hongbao/store/storetest"
	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// slowLedger is a ledger that commits the adjustment with the key "slow" at once. It returns from that call only when
// free is closed.
type slowLedger struct {
	*pgstore.Store
	committed, free chan struct{}
}

func (l *slowLedger) Adjust(ctx context.Context, a redpacket.Adjustment) (redpacket.Account, bool, error) {
	acc, dup, err := l.Store.Adjust(ctx, a)
	if a.Key == "slow" {
		close(l.committed)
		<-l.free
	}
	return acc, dup, err
}

// TestBrowserWalletPushesOfTwoInstancesCross has two instances adjust a wallet: the push with the newer balance 15
// arrives before the push with 10. The Go SDK and the JS SDK must keep 15, at either instance.
func TestBrowserWalletPushesOfTwoInstancesCross(t *testing.T) {
	enginetest.Nightly(t, "page")
	url, err := storetest.Postgres(t).NewDatabase(t.Context())
	noError(t, err)
	engines := newTestEngines(t)
	instance := func(ledger func(*pgstore.Store) redpacket.Ledger) *testServer {
		store, err := pgstore.Open(t.Context(), url, slog.New(slog.DiscardHandler))
		noError(t, err)
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		engines.store, engines.ledger = &watchedStore{Store: store}, ledger(store)
		return engines.open(t)
	}
	slow := &slowLedger{committed: make(chan struct{}), free: make(chan struct{})}
	one := instance(func(s *pgstore.Store) redpacket.Ledger { slow.Store = s; return slow })
	two := instance(func(s *pgstore.Store) redpacket.Ledger { return s })
	token := mint(t, auth.Claims{User: "ann", Name: "Ann"}, time.Hour)

	plain := newSDKClient(t, one.listen(t), centrifuge.Config{Token: token})
	noError(t, plain.Connect())
	await(t, plain.connected)
	var ours []*client.Client
	for _, s := range []*testServer{one, two} {
		c, err := client.New("ws://"+s.listen(t)+"/v1/socket", client.Options{Token: token})
		noError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		if _, err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		ours = append(ours, c)
	}
	pages := []*webtest.Tab{accountPage(t, one.listen(t), token), accountPage(t, two.listen(t), token)}

	credit := func(s *testServer, amount int64, key string) {
		if _, err := s.callAdmin(context.Background(), api.Caller{Admin: true}, "credit", encoded(t, wire.AdjustRequest{User: "ann", Amount: amount, Key: key})); err != nil {
			t.Error(err)
		}
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		credit(one, 10, "slow")
	}()
	<-slow.committed
	credit(two, 5, "quick")
	if w := await(t, plain.messages).Wallet; w == nil || w.Balance != 15 || w.AccountVersion != 2 {
		t.Fatalf("told first: %+v", w)
	}
	close(slow.free)
	<-answered
	if w := await(t, plain.messages).Wallet; w == nil || w.Balance != 10 || w.AccountVersion != 1 {
		t.Fatalf("told last: %+v; the pushes have not crossed", w)
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i, c := range ours {
		for event, err := range c.Events(ctx) {
			noError(t, err)
			if w, ok := event.(model.Wallet); ok && w.Change == 10 {
				break
			}
		}
		if acc := c.Account(); acc.Balance != 15 || acc.Version != 2 {
			t.Errorf("the Go SDK at instance %d has %+v", i+1, acc)
		}
	}
	for i, page := range pages {
		told := webtest.Ask[string](page, `older.then((push) => JSON.stringify([push, client.account.balance, client.account.version]))`)
		var push struct{ Balance, Change int64 }
		var balance, version int64
		noError(t, json.Unmarshal([]byte(told), &[]any{&push, &balance, &version}))
		if push.Change != 10 || push.Balance != 15 || balance != 15 || version != 2 {
			t.Errorf("the JS SDK at instance %d has heard %s", i+1, told)
		}
	}
}

// accountPage opens a page with a connected client of our JS SDK. The page's variable older is a promise of the push
// with the balance 10.
func accountPage(t *testing.T, addr, token string) *webtest.Tab {
	t.Helper()
	tab := webtest.Browser(t).Tab(t)
	tab.Do(chromedp.Navigate("http://" + addr + "/sdk/index.js"))
	ready := webtest.Ask[bool](tab, fmt.Sprintf(`(async () => {
		await import('/vendor/centrifuge.js');
		const { Client } = await import('/sdk/index.js');
		globalThis.client = new Client('ws://%s/v1/socket', { token: %q });
		globalThis.older = new Promise((resolve) => client.on('wallet', (push) => { if (push.change === 10) resolve(push); }));
		await new Promise((resolve) => client.on('ready', resolve));
		return true;
	})()`, addr, token))
	if !ready {
		t.Fatal("the page's client is not connected")
	}
	return tab
}
