package sdk

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
)

// scenarios is the list of all scenarios. Every SDK must pass each of them.
var scenarios = []struct {
	name      string
	variables []string // of the server
	play      func(f *fixture)
}{
	{"S01-connects", nil, (*fixture).connects},
	{"S02-token-expired-at-connect", nil, (*fixture).tokenExpiredAtConnect},
	{"S03-token-refreshed", nil, (*fixture).tokenRefreshed},
	{"S04-token-refused", nil, (*fixture).tokenRefused},
	{"S05-token-expires", nil, (*fixture).tokenExpires},
	{"S06-token-invalid", nil, (*fixture).tokenInvalid},
	{"S07-server-killed", nil, (*fixture).serverKilled},
	{"S08-server-drained", nil, (*fixture).serverDrained},
	{"S09-too-many-entries-to-recover", nil, (*fixture).tooManyToRecover},
	{"S10-too-many-bytes-to-recover", nil, (*fixture).tooLargeToRecover},
	{"S11-invited", nil, (*fixture).invited},
	{"S12-out-of-rooms", nil, (*fixture).outOfRooms},
	{"S13-kicked-while-away", nil, (*fixture).kickedWhileAway},
	{"S14-revoked", nil, (*fixture).revoked},
	{"S15-too-many-sockets", nil, (*fixture).tooManySockets},
	{"S16-slow", nil, (*fixture).slow},
	{"S17-errors", nil, (*fixture).errors},
	{"S18-native-commands", nil, (*fixture).nativeCommands},
	{"S19-too-many-commands", []string{"HONGBAO_LIMITS=on"}, (*fixture).tooManyCommands},
	{"S20-all-kinds-of-bytes", nil, (*fixture).allKindsOfBytes},
	{"S21-repeated-request", nil, (*fixture).repeatedRequest},
	{"S22-too-big-frame", nil, (*fixture).tooBigFrame},
	{"S23-silent", nil, (*fixture).silent},
}

// idleScenarios wait for half a minute and use hardly any CPU: they give up their slot to others, and make test leaves them out.
var idleScenarios = []string{"S05-token-expires", "S23-silent"}

// played reports whether a scenario is played in this run. make nightly plays all. make test plays each encoding with one SDK, and no
// scenario whose verdict depends on time.
func played(sdk string, protobuf bool, scenario string) bool {
	return enginetest.Tonight("whole") || protobuf == (sdk == "centrifuge-go") && !slices.Contains(append(idleScenarios, "S16-slow"), scenario)
}

// TestSDKs plays every scenario with every SDK, each with a server of its own.
func TestSDKs(t *testing.T) {
	e2e.Build(t, "")
	site, host := openSite(t), denyingHost(t)
	sdks := map[string]func(t *testing.T, protobuf bool) sdk{
		"centrifuge-go": func(t *testing.T, protobuf bool) sdk { return centrifugeGo{t, protobuf} },
		"centrifuge-js": func(t *testing.T, protobuf bool) sdk { return &centrifugeJS{t: t, site: site, protobuf: protobuf} },
	}
	slots := make(chan struct{}, 4)
	var all sync.WaitGroup
	for _, scenario := range scenarios {
		for name, newSDK := range sdks {
			for _, protobuf := range []bool{false, true} {
				if !played(name, protobuf, scenario.name) {
					continue
				}
				all.Go(func() {
					slots <- struct{}{}
					release := sync.OnceFunc(func() { <-slots })
					defer release()
					t.Run(fmt.Sprintf("%s/%s/%s", name, encodingName(protobuf), scenario.name), func(t *testing.T) {
						variables := slices.Concat([]string{"HONGBAO_ALLOWED_ORIGINS=" + site.origin}, host, scenario.variables)
						f := newFixture(t, newSDK(t, protobuf), variables...)
						if slices.Contains(idleScenarios, scenario.name) {
							release()
						}
						scenario.play(f)
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
