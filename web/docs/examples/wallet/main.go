// Command wallet is an example of a host that pays packets from its own ledger. Every user has 100.00 there. Start it with the
// secret of HONGBAO_HOOK_SECRETS and HONGBAO_WEBHOOK_SECRETS:
//
//	SECRET=whsec_… go run ./web/docs/examples/wallet 127.0.0.1:9002
//
// See web/docs/hooks.md.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"hongbao/web/docs/examples/signed"
)

const start = 10_000

// question is the part of a question that the wallet needs. The id names the funding.
type question struct {
	ID   string
	Data struct {
		User    struct{ ID string }
		Request struct{ Total int64 }
	}
}

// event is the part of an event that the wallet needs.
type event struct {
	Type string
	Data struct {
		User    string
		Details struct{ Funding string }
	}
}

// ledger holds the money. In a real host it is a database, and each method below is one transaction.
type ledger struct {
	mu       sync.Mutex
	Spent    map[string]int64 `json:"spent"`    // by user
	Debits   map[string]int64 `json:"debits"`   // by funding: what was taken for it
	Reversed map[string]bool  `json:"reversed"` // by funding: nothing may be taken for it any more
}

// fund takes the money for a packet from the user, or all that the user has left, at most once for a funding.
func (l *ledger) fund(q *question) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	user := q.Data.User.ID
	amount, taken := l.Debits[q.ID] // taken: hongbao asks again, and must get the same answer
	if !taken && !l.Reversed[q.ID] {
		amount = min(q.Data.Request.Total, start-l.Spent[user])
	}
	if amount <= 0 {
		return map[string]any{"allow": true} // the user's wallet at hongbao must pay
	}
	if !taken {
		l.Debits[q.ID] = amount
		l.Spent[user] += amount
	}
	return map[string]any{"allow": true, "fund": map[string]any{"amount": amount, "key": q.ID}}
}

// reverse gives the user back the money of a funding. The event may come twice, and even before the question.
func (l *ledger) reverse(e *event) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id := e.Data.Details.Funding; e.Type == "transfer.reversed" && !l.Reversed[id] {
		l.Reversed[id] = true
		l.Spent[e.Data.User] -= l.Debits[id]
		delete(l.Debits, id)
	}
	return nil
}

func main() {
	if len(os.Args) != 2 || os.Getenv("SECRET") == "" {
		log.Fatal("usage: SECRET=whsec_… wallet host:port")
	}
	l := &ledger{Spent: map[string]int64{}, Debits: map[string]int64{}, Reversed: map[string]bool{}}
	http.Handle("POST /hook", signed.Handler(os.Getenv("SECRET"), l.fund))
	http.Handle("POST /events", signed.Handler(os.Getenv("SECRET"), l.reverse))
	http.HandleFunc("GET /ledger", func(w http.ResponseWriter, _ *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		_ = json.NewEncoder(w).Encode(l)
	})
	fmt.Println("answering at", os.Args[1])
	server := http.Server{Addr: os.Args[1], ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}
