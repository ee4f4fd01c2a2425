package storetest

func presenceRenewed(b *presenceBench) {
	b.enters(b.A, "a", "1", 9)
	b.enters(b.B, "b", "2", 9)
	b.enters(b.A, "both", "3", 9)
	b.enters(b.B, "both", "4", 9)
	b.stays(true, 2*b.Lease, "a", "b", "both")
	b.enters(b.A, "both", "5", 2, "3")
}

func presenceDead(b *presenceBench) {
	b.enters(b.A, "a", "1", 9)
	b.enters(b.A, "both", "2", 9)
	b.enters(b.B, "b", "3", 9)
	b.enters(b.B, "both", "4", 9)
	b.Kill()
	b.becomes("b", false, b.Lease+b.Lease/2)
	b.stays(true, b.Lease, "a", "both")
	b.goes(b.A, "both", "2", true)
	if b.ask(b.A, "both")[0] {
		b.Error("a socket of the dead counts")
	}
	b.comes(b.A, "b", "5", true)
}

// presenceDeadCount kills an instance with three sockets of a user. After the lease they must not count towards the
// limit.
func presenceDeadCount(b *presenceBench) {
	b.enters(b.A, "u", "0", 4)
	for _, socket := range []string{"1", "2", "3"} {
		b.enters(b.B, "u", socket, 4)
	}
	b.enters(b.B, "sign", "4", 4)
	b.Kill()
	b.becomes("sign", false, b.Lease+b.Lease/2)
	for _, socket := range []string{"5", "6", "7"} {
		b.enters(b.A, "u", socket, 4)
	}
	b.enters(b.A, "u", "8", 4, "0")
}

func presenceLost(b *presenceBench) {
	b.enters(b.A, "u", "z", 5)
	b.enters(b.B, "u", "y", 5)
	b.enters(b.A, "u", "x", 5)
	b.enters(b.B, "other", "w", 5)
	b.Forget()
	b.becomes("u", true, b.Lease)
	b.becomes("other", true, b.Lease)
	b.stays(true, b.Lease, "u", "other") // by now each socket must have been renewed at least once
	b.enters(b.B, "u", "v", 5)
	b.enters(b.B, "u", "t", 1, "z", "y", "x", "v")
}

func presenceLeft(b *presenceBench) {
	b.enters(b.A, "u", "1", 1)
	b.enters(b.A, "u", "2", 1, "1") // removed by its own instance, because the user had too many
	b.leaves(b.A, "u", "2")
	b.Forget()
	b.stays(false, b.Lease, "u")
}
