"""Where the interface is served, below ``/api/v1/``."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
