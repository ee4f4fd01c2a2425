package api

// MethodGrab is the name of the method grab. Transports handle it specially: a grab continues when its context ends.
const MethodGrab = "grab"

// commands holds every method that members may call, by name.
var commands = map[string]*command{
	"create_room": ordered((*Commands).createRoom),
	"direct":      ordered((*Commands).direct),
	"join":        ordered((*Commands).join),
	"leave":       ordered((*Commands).leave),
	"find_rooms":  overlapping((*Commands).findRooms),
	"members":     overlapping((*Commands).members),
	"presence":    overlapping((*Commands).presence),

	"invite":      ordered((*Commands).invite),
	"kick":        ordered((*Commands).kick),
	"unban":       ordered((*Commands).unban),
	"set_role":    ordered((*Commands).setRole),
	"mute":        ordered((*Commands).mute),
	"update_room": ordered((*Commands).updateRoom),
	"delete_room": ordered((*Commands).deleteRoom),

	"send":    ordered((*Commands).send),
	"edit":    ordered((*Commands).edit),
	"recall":  ordered((*Commands).recall),
	"react":   ordered((*Commands).react),
	"history": overlapping((*Commands).history),
	"read":    ordered((*Commands).read),

	"send_packet":   ordered((*Commands).sendPacket),
	MethodGrab:      {new: func() call { return new(grabCall) }, overlaps: true}, // it does not depend on earlier commands
	"packet":        overlapping((*Commands).packet),
	"cancel_packet": ordered((*Commands).cancelPacket),
	"packets":       overlapping((*Commands).listPackets),
	"wallet":        overlapping((*Commands).wallet),
}

// KnownMethod returns the method's name if the method exists, else "unknown". So clients cannot fill the memory of the
// metrics with invented names.
func KnownMethod(method string) string {
	if commands[method] == nil {
		return "unknown"
	}
	return method
}

// Methods returns the names of all methods, in no particular order.
func Methods() []string {
	names := make([]string, 0, len(commands))
	for name := range commands {
		names = append(names, name)
	}
	return names
}
