package hub

// Topics lists what the connection listens to at this moment.
func (c *Conn) Topics() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := make([]string, len(c.subs))
	for i, s := range c.subs {
		names[i] = s.topic.name
	}
	return names
}
