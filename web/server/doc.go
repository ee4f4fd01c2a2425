// Package server is the server API: what the back end of a host may ask, on a listener of its own. Other packages may mount
// further routes.
//
// Stored acts and the stream are behind interfaces that the program fills: the package imports no store.
//
// It owns keys, scopes, limits per key, and the way from a request to a function of the domain. It must always hold:
//
//   - Without a key that is in the keys file, a caller learns nothing but that the key is wrong.
//   - A request that changes something is handed to Acts before it is carried out. If that fails, it is not carried out.
//   - A key that sends too much, or waits for too much, costs only itself: its rate and its number of running requests are bounded.
//   - The idempotency keys of one API key mean nothing for another one. A rotated key has the name of the old one, and shares them.
//
// Keys.Run is the only goroutine of the package. It reads the keys file again when it has changed.
package server
