// Command wordfilter is an example of a host that is asked before texts are sent. It replaces some words by asterisks, and
// denies texts with certain other words. Start it with the secret of HONGBAO_HOOK_SECRETS:
//
//	SECRET=whsec_… go run ./web/docs/examples/wordfilter 127.0.0.1:9001
//
// See web/docs/hooks.md.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"hongbao/web/docs/examples/signed"
)

// question is the part of a question that the filter needs.
type question struct {
	Type string
	Data struct {
		Request struct{ Text, Greeting string }
	}
}

// verdict is the answer.
type verdict struct {
	Allow  bool    `json:"allow"`
	Text   *string `json:"text,omitempty"`
	Reason string  `json:"reason,omitempty"`
	Data   any     `json:"data,omitempty"`
}

var (
	starred = regexp.MustCompile(`(?i)\b(darn|heck)\b`)
	denied  = regexp.MustCompile(`(?i)\b(casino|lottery)\b`)
)

func answer(q *question) any {
	text := q.Data.Request.Text
	if q.Type == "send_packet" {
		text = q.Data.Request.Greeting
	}
	if word := denied.FindString(text); word != "" {
		return verdict{Reason: "No advertising, please", Data: map[string]string{"word": word}}
	}
	clean := starred.ReplaceAllStringFunc(text, func(word string) string { return strings.Repeat("*", len(word)) })
	if clean == text {
		return verdict{Allow: true}
	}
	return verdict{Allow: true, Text: &clean}
}

func main() {
	if len(os.Args) != 2 || os.Getenv("SECRET") == "" {
		log.Fatal("usage: SECRET=whsec_… wordfilter host:port")
	}
	http.Handle("POST /hook", signed.Handler(os.Getenv("SECRET"), answer))
	fmt.Println("answering at", os.Args[1])
	server := http.Server{Addr: os.Args[1], ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}
