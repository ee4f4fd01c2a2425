// Package hostapi holds the payloads and the table of the server API: what a host's back end may ask of the server, on a listener of
// its own. The documents and the routes are derived from the table.
//
// It must always hold: fields are only added, and a field that is added to a request is optional.
package hostapi
