//go:build !linux

package main

import "net"

// receive reads from each client on a goroutine of its own.
func (e *messageCounter) receive(conns []net.Conn) error {
	for i, conn := range conns {
		go func() {
			buffer := make([]byte, 16<<10)
			for {
				n, err := conn.Read(buffer)
				if err != nil {
					return
				}
				e.take(i, buffer[:n])
			}
		}()
	}
	return nil
}
