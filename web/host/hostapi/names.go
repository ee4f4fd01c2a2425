package hostapi

import (
	"encoding/json"
	"strings"
)

// Names reports whether the request of an act, which may be cut off, has the id as a value: not only as the name of a field.
func Names(request, id string) bool {
	quoted, _ := json.Marshal(id)
	for {
		_, after, found := strings.Cut(request, string(quoted))
		if !found {
			return false
		}
		if !strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":") {
			return true
		}
		request = after
	}
}
