"""Certificates of one relay: its authority, and what it vouches for, the server and the clients of each study.

They say who may connect, and nothing about who somebody is in the study: that is for the identities pinned there.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LASTS = timedelta(days=3 * 365)
_EARLIER = timedelta(days=1)  # a clock may be behind
_LEAST = timedelta(days=365)  # that a study can rely on


@dataclass(frozen=True, repr=False)
class Certified:
    """Private key with a certificate of its public key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        """Certificate in PEM."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """SECRET key in PEM."""
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def authority(name: str) -> Certified:
    """Make an authority, which may vouch for servers and clients and for no other authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(name, key.public_key(), name)
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage, critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return Certified(builder.sign(key, hashes.SHA256()), key)


def server(by: Certified, *hosts: str) -> Certified:
    """Make the relay's key, vouched for under the names or addresses to which is connected."""
    return _issued(by, "relay", ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(map(_host, hosts)))


def client(by: Certified, name: str, account: str) -> Certified:
    """Make the key of a client that may connect under this name, for the study that this account stores."""
    return _issued(by, name, ExtendedKeyUsageOID.CLIENT_AUTH, None, account)


def read_authority(certificate: bytes, key: bytes) -> Certified:
    """Return the authority in these PEM texts. ValueError unless the key is the certificate's."""
    found, secret = x509.load_pem_x509_certificate(certificate), serialization.load_pem_private_key(key, None)
    if not isinstance(secret, ec.EllipticCurvePrivateKey) or secret.public_key() != found.public_key():
        raise ValueError("the key is not that of the certificate")
    return Certified(found, secret)


def lasts(authority: x509.Certificate) -> bool:
    """Return whether the certificates of an authority, and its server's, last for another study."""
    return authority.not_valid_after_utc >= datetime.now(UTC) + _LEAST


def is_for(certificate: bytes, host: str) -> bool:
    """Return whether a server's certificate is for this name or address. ValueError for what is no such certificate."""
    try:
        names = x509.load_pem_x509_certificate(certificate).extensions
        return _host(host) in names.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        raise ValueError("it names no host") from None


def _issued(
    by: Certified, name: str, use: x509.ObjectIdentifier, also: x509.SubjectAlternativeName | None, account: str = ""
) -> Certified:
    key = ec.generate_private_key(ec.SECP256R1())
    (issuer,) = by.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    builder = _builder(name, key.public_key(), str(issuer.value), account)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([use]), critical=False)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(by.key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    if also is not None:
        builder = builder.add_extension(also, critical=False)
    return Certified(builder.sign(by.key, hashes.SHA256()), key)


def _builder(name: str, key: ec.EllipticCurvePublicKey, issuer: str, account: str = "") -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name, account))
        .issuer_name(_named(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + _LASTS)
    )


def _named(name: str, account: str = "") -> x509.Name:
    within = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, account)] if account else []
    return x509.Name([*within, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
