import { expect, test } from 'vitest';
import { addressKey } from './http-limits.ts';

test('a client is an address of IPv4, or a network of IPv6', () => {
  expect(addressKey('10.1.2.3')).toBe('address:10.1.2.3');
  expect(addressKey('::ffff:10.1.2.3')).toBe('address:10.1.2.3');
  const network = addressKey('2001:db8:1:2:3:4:5:6');
  expect(network).toBe('address:2001:db8:1:2::/64');
  expect(addressKey('2001:db8:1:2::1')).toBe(network);
  expect(addressKey('2001:db8:1:3::1')).not.toBe(network);
  expect(addressKey('2001:db8::1')).toBe('address:2001:db8:0:0::/64');
  expect(addressKey('fe80::1%eth0')).toBe('address:fe80:0:0:0::/64');
  expect(addressKey('::1')).toBe('address:0:0:0:0::/64');
});
