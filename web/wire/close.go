package wire

// Close is the code and reason of a WebSocket close frame. After a code below 3500 clients reconnect automatically;
// after any other they do not.
type Close struct {
	Code   int
	Reason string
}

// The close codes.
const (
	CloseDrain            = 3001
	CloseServerError      = 3004
	CloseTokenExpired     = 3005
	CloseTooSlow          = 3008
	CloseNoPong           = 3012
	CloseTooManyCommands  = 3013
	CloseStateInvalidated = 3014
	CloseInvalidToken     = 3500
	CloseProtocolError    = 3501
	CloseNoConnect        = 3502
	CloseRevoked          = 3503
	ClosePushedOut        = 3504
)

// CloseFor returns the close code with its reason.
func CloseFor(code int) Close { return Close{Code: code, Reason: closeReasons[code]} }

var closeReasons = map[int]string{
	CloseDrain:            "drain",
	CloseServerError:      "server error",
	CloseTokenExpired:     "token expired",
	CloseTooSlow:          "too slow",
	CloseNoPong:           "no pong",
	CloseTooManyCommands:  "too many commands",
	CloseStateInvalidated: "state invalidated",
	CloseInvalidToken:     "invalid token",
	CloseProtocolError:    "protocol error",
	CloseNoConnect:        "no connect in time",
	CloseRevoked:          "revoked",
	ClosePushedOut:        "pushed out by a newer socket",
}
