package main

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// scenarios are what a client goes through. Every SDK must come through all of them, unchanged.
var scenarios = []struct {
	name      string
	variables []string // of the server
	play      func(s *stage)
}{
	{"S01-connects", nil, (*stage).connects},
	{"S02-token-over-at-connect", nil, (*stage).tokenOverAtConnect},
	{"S03-token-refreshed", nil, (*stage).tokenRefreshed},
	{"S04-token-refused", nil, (*stage).tokenRefused},
	{"S05-token-runs-out", nil, (*stage).tokenRunsOut},
	{"S06-token-bad", nil, (*stage).tokenBad},
	{"S07-killed", nil, (*stage).killed},
	{"S08-drained", nil, (*stage).drained},
	{"S09-missed-too-many", nil, (*stage).missedTooMany},
	{"S10-missed-too-much", nil, (*stage).missedTooMuch},
	{"S11-invited", nil, (*stage).invited},
	{"S12-out", nil, (*stage).outOfRooms},
	{"S13-out-while-away", nil, (*stage).outWhileAway},
	{"S14-revoked", nil, (*stage).revoked},
	{"S15-pushed-out", nil, (*stage).pushedOut},
	{"S16-slow", nil, (*stage).slow},
	{"S17-errors", nil, (*stage).errors},
	{"S18-native-commands", nil, (*stage).nativeCommands},
	{"S19-too-many-commands", []string{"HONGBAO_LIMITS=on"}, (*stage).tooManyCommands},
	{"S20-all-kinds-of-bytes", nil, (*stage).bytes},
	{"S21-said-again", nil, (*stage).saidAgain},
	{"S22-too-big", nil, (*stage).tooBig},
	{"S23-silent", nil, (*stage).silent},
}

// waiting are scenarios that take half a minute and do next to nothing in it: they are no reason for others to wait.
var waiting = []string{"S05-token-runs-out", "S23-silent"}

// TestSDKs plays every scenario with every SDK, against the program as people run it.
func TestSDKs(t *testing.T) {
	build(t, "")
	site := openSDKSite(t)
	sdks := map[string]func(t *testing.T, protobuf bool) sdk{
		"centrifuge-go": func(t *testing.T, protobuf bool) sdk { return centrifugeGo{t, protobuf} },
		"centrifuge-js": func(t *testing.T, protobuf bool) sdk { return &centrifugeJS{t: t, site: site, protobuf: protobuf} },
	}
	places := make(chan struct{}, 4)
	var all sync.WaitGroup
	for _, scenario := range scenarios {
		for name, newSDK := range sdks {
			for _, protobuf := range []bool{false, true} {
				all.Go(func() {
					places <- struct{}{}
					leave := sync.OnceFunc(func() { <-places })
					defer leave()
					t.Run(fmt.Sprintf("%s/%s/%s", name, encodingName(protobuf), scenario.name), func(t *testing.T) {
						variables := append([]string{"HONGBAO_ALLOWED_ORIGINS=" + site.origin}, scenario.variables...)
						s := newStage(t, newSDK(t, protobuf), variables...)
						if slices.Contains(waiting, scenario.name) {
							leave()
						}
						scenario.play(s)
					})
				})
			}
		}
	}
	all.Wait()
}

func encodingName(protobuf bool) string {
	if protobuf {
		return "protobuf"
	}
	return "json"
}
