package hostapi

import "strings"

// Names reports whether the request of an act, which may be cut off, has the id as a value: not only as the name of a field.
// Ids need no escaping in JSON.
func Names(request, id string) bool {
	for {
		_, after, found := strings.Cut(request, `"`+id+`"`)
		if !found {
			return false
		}
		if !strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":") {
			return true
		}
		request = after
	}
}
